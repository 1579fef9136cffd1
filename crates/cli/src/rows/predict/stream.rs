//! Predicts standard input row by row: memory is that of a chunk of rows, and answers do not wait for the end of input.

use std::io::Write;
use std::ops::ControlFlow;

use lineal::data::ErrorKind;
use lineal::{Model, ReadOptions, Source};

use super::{Asked, ROWS, warn, write};
use crate::args::{Output, PredictArgs};
use crate::talk::Talk;

/// Writes an answer for each row.
pub fn answer_all(
    model: &Model,
    source: Source,
    args: &PredictArgs,
    options: &ReadOptions,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut ask = Asked::new(model, args)?;
    let mut failed: Option<anyhow::Error> = None;
    let mut is_first = true;
    let done =
        lineal::data::stream(source, options, model.schema(), ROWS, &mut |mut chunk, text| {
            let answered = (|| {
                model.features().encode(&mut chunk, text)?;
                let rows = ask.answer(&chunk)?;
                if std::mem::take(&mut is_first) && args.output == Output::Csv {
                    write::csv_header(out, &rows)?;
                }
                write::write_rows(out, &rows, args.output)?;
                out.flush()?;
                anyhow::Ok(())
            })();
            match answered {
                Ok(()) => Ok(ControlFlow::Continue(())),
                Err(error) => {
                    let message = error.to_string();
                    failed = Some(error);
                    Err(lineal::data::Error::new(ErrorKind::Text, "<stdin>", message))
                }
            }
        });
    if let Some(error) = failed {
        return Err(error);
    }
    warn(&done?.warnings, Talk::new(args.run.quiet));
    Ok(())
}
