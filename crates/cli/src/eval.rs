//! `lineal eval`: metrics of a model of any task on labelled data.

use lineal::StructuredModel;

use crate::args::EvalArgs;
use crate::files;
use crate::program::{Program, with_model};
use crate::talk::Talk;

/// Runs the command.
pub fn run(args: &EvalArgs) -> anyhow::Result<()> {
    if let Some(report) = &args.report {
        files::check_output(report, &[&args.model, &args.data])?;
    }
    let talk = Talk::new(args.run.quiet);
    with_model!(&args.model, model => {
        let mut model = model;
        if let Some(p) = args.threshold {
            model.set_threshold(p)?;
        }
        args.limits.check(model.task())?;
        lineal::with_threads(args.run.threads, || {
            let found = model.measure(args, talk)?;
            if let Some(path) = &args.report {
                let page = model.measured_page(&found, &args.data.display().to_string()).finish();
                files::write_output(Some(path), |out| out.write_all(page.as_bytes()))?;
                talk.say(format_args!("wrote {}", path.display()));
            }
            if args.json {
                return files::json_to_stdout(&model.measured_json(&found)?);
            }
            files::lines_to_stdout(&model.measured_lines(&found))
        })
    })
}
