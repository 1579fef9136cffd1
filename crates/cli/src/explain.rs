//! `lineal explain`: why a model of any task answers as it does.

use lineal::StructuredModel;

use crate::args::{ExplainArgs, ExplainOutput};
use crate::files;
use crate::program::{Program, with_model};
use crate::talk::Talk;

/// Runs the command.
pub fn run(args: &ExplainArgs) -> anyhow::Result<()> {
    for output in args.out.iter().chain(&args.html).filter(|out| out.as_os_str() != "-") {
        files::check_output(output, &[&args.model, &args.data])?;
    }
    let talk = Talk::new(args.run.quiet);
    with_model!(&args.model, model => {
        args.limits.check(model.task())?;
        let found = lineal::with_threads(args.run.threads, || model.reasons(args, talk))?;
        if let Some(path) = &args.html {
            let page = model.explained_page(&found, args);
            files::write_output(Some(path), |out| out.write_all(page.as_bytes()))?;
            talk.say(format_args!("wrote {}", path.display()));
            return Ok(());
        }
        files::write_output(args.out.as_deref(), |out| {
            match args.json || args.output == ExplainOutput::Jsonl {
                true => model.explained_json(&found, args, out),
                false => model.explained_text(&found, args, out),
            }
        })
    })
}
