//! Which variables hang together.

/// Sets that grow together.
pub(crate) struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    pub(crate) fn new(n: usize) -> Self {
        Self { parents: (0..n).collect() }
    }

    /// The smallest member of the set.
    pub(crate) fn root(&mut self, mut v: usize) -> usize {
        while self.parents[v] != v {
            self.parents[v] = self.parents[self.parents[v]];
            v = self.parents[v];
        }
        v
    }

    pub(crate) fn join(&mut self, scope: &[u32]) {
        for pair in scope.windows(2) {
            let (a, b) = (self.root(pair[0] as usize), self.root(pair[1] as usize));
            self.parents[a.max(b)] = a.min(b);
        }
    }
}
