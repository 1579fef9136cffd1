//! Raw text in, classes out: the vocabulary lives in the model.
//!
//!     cargo run --release -p lineal --example text

use lineal::{FeatureSpec, Predicted, ReadOptions, Source, TrainSpec, Training, read_features};

const LETTERS: &str = "desk,body
money,please send the invoice again
money,the invoice is wrong and the amount too
money,I paid the bill twice
parcel,where is my parcel
parcel,the parcel came open
parcel,nobody rang and the box was wet
repair,the screen stays dark
repair,it does not turn on
repair,the battery is dead after an hour
";

fn main() -> Result<(), lineal::Error> {
    let source = Source::Memory { name: "letters.csv".into(), bytes: LETTERS.into() };
    let options = ReadOptions {
        label: Some("desk".into()),
        text: vec!["body".into()],
        ..ReadOptions::default()
    };
    let (data, features) = read_features(source, &options, &FeatureSpec::default())?;
    let spec = TrainSpec::for_text(3);
    let (model, report) = Training::new(&data, &spec).features(&features).run()?;
    println!("{}", report.certificate());

    let new = model.texts(&["is the invoice paid?", "the screen is dark"])?;
    if let Predicted::Classes(answers) = model.predict(&new)? {
        for class in answers {
            println!("{}", model.classes()[class as usize]);
        }
    }
    Ok(())
}
