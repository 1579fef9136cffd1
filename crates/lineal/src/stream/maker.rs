//! From chunks as they are read to chunks that can be learnt from.

use crate::Error;
use crate::features::{Features, Sampling};
use lineal_data::{Dataset, Schema, TextBatch};
use std::ops::ControlFlow;
use std::sync::mpsc::SyncSender;

/// A chunk that is ready to be learnt from; and the features, when they have just been learnt.
pub(super) type Prepared = Result<(Option<Features>, Dataset), Error>;

/// Makes features of the text of chunks, and hands them on.
pub(super) struct Maker {
    pub features: Features,
    pub sampling: Option<Sampling>,
    pub schema: Schema,
    pub to_learn: SyncSender<Prepared>,
}

impl Maker {
    pub(super) fn take(&mut self, mut chunk: Dataset, text: Option<&TextBatch>) -> ControlFlow<()> {
        match &mut self.sampling {
            None => {
                let encoded = self.features.encode(&mut chunk, text);
                self.hand_on(encoded.map(|()| (None, chunk)))
            }
            Some(sampling) => match sampling.push(chunk, text) {
                Ok(false) => ControlFlow::Continue(()),
                Ok(true) => self.end(),
                Err(error) => self.hand_on(Err(error)),
            },
        }
    }

    /// No rows are needed any more to learn features: those that waited can go on.
    pub(super) fn end(&mut self) -> ControlFlow<()> {
        let Some(sampling) = self.sampling.take() else { return ControlFlow::Continue(()) };
        match sampling.finish(&mut self.schema) {
            Err(error) => self.hand_on(Err(error)),
            Ok((features, chunks)) => {
                self.features = features;
                let mut new = Some(self.features.clone());
                chunks.into_iter().try_for_each(|chunk| self.hand_on(Ok((new.take(), chunk))))
            }
        }
    }

    fn hand_on(&self, prepared: Prepared) -> ControlFlow<()> {
        let failed = prepared.is_err();
        match self.to_learn.send(prepared) {
            Ok(()) if !failed => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}
