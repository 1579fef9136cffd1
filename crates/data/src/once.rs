//! Standard input and pipes that are looked at before they are walked: what a look takes is kept, and comes again.

use std::fmt;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::archive::Reader;

/// Bytes that come once, of which the first are kept until they are sealed.
#[derive(Clone)]
pub struct Once {
    name: String,
    state: Arc<Mutex<State>>,
}

struct State {
    kept: Vec<u8>,
    rest: Reader<'static>,
    sealed: bool,
}

impl Once {
    pub(crate) fn new(rest: Reader<'static>, name: &str) -> Self {
        let state = State { kept: Vec::new(), rest, sealed: false };
        Self { name: name.to_owned(), state: Arc::new(Mutex::new(state)) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// From here on nothing more is kept: the next reader that passes what was kept is the last.
    pub(crate) fn seal(&self) {
        self.state().sealed = true;
    }

    /// The bytes from the first on, decompressed.
    pub(crate) fn reader(&self) -> impl Read + Send + use<> {
        Replay { once: self.clone(), at: 0 }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("name", &self.name).finish_non_exhaustive()
    }
}

struct Replay {
    once: Once,
    at: usize,
}

impl Read for Replay {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let state = &mut *self.once.state();
        let mut more = Vec::new();
        if self.at >= state.kept.len() {
            let to = if state.sealed { &mut more } else { &mut state.kept };
            state.rest.fill(to, out.len()).map_err(|e| io::Error::other(e.message))?;
        }
        let from =
            if more.is_empty() { &state.kept[self.at.min(state.kept.len())..] } else { &more };
        let n = from.len().min(out.len());
        out[..n].copy_from_slice(&from[..n]);
        self.at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(once: &Once, n: u64) -> String {
        let mut text = String::new();
        once.reader().take(n).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_look_takes_nothing_away() {
        let once = Once::new(Reader::new(&b"what comes once"[..], "-").unwrap(), "-");
        assert_eq!(read(&once, 4), "what");
        assert_eq!(read(&once, 10), "what comes");
        assert_eq!(read(&once, 4), "what");
        once.seal();
        assert_eq!(read(&once, 4), "what");
        assert_eq!(read(&once, 99), "what comes once");
    }
}
