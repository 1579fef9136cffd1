//! Whether the run that a thread is in is to end, for code that is there without training, too.

/// What an [`Interrupt`](crate::Interrupt) says; where nothing is trained there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listener {
    #[cfg(feature = "train")]
    interrupt: Option<lineal_solver::Interrupt>,
}

impl Listener {
    /// Listens to what this thread listens to.
    pub(crate) fn here() -> Self {
        Self {
            #[cfg(feature = "train")]
            interrupt: lineal_solver::Interrupt::heard(),
        }
    }

    /// Whether anybody may want it to end.
    pub(crate) fn is_heard(&self) -> bool {
        #[cfg(feature = "train")]
        return self.interrupt.is_some();
        #[cfg(not(feature = "train"))]
        false
    }

    /// Whether the run is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        #[cfg(feature = "train")]
        return self.interrupt.as_ref().is_some_and(lineal_solver::Interrupt::is_stopped);
        #[cfg(not(feature = "train"))]
        false
    }

    /// The error of a run that is to end.
    pub(crate) fn go_on(&self) -> Result<(), crate::Error> {
        if self.is_stopped() { Err(crate::Error::Interrupted) } else { Ok(()) }
    }

    /// An error, if the run is to end; whoever started it makes [`Error::Interrupted`](crate::Error::Interrupted) of it.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.is_stopped() { Err("interrupted".into()) } else { Ok(()) }
    }
}
