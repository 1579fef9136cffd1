//! Learning from one example after the other, as they come: no sum over examples is known, so nothing is minimised to the end.
//!
//! The weights are a table of `rows` inputs (the last one the bias, if there is one) by `columns` outputs. A step takes an example's gradient, weight
//! by weight ∂ = x_j·g_c, and moves
//!
//! ```text
//! plain        w ← w − ηₜ ∂
//! adagrad      G ← G + ∂²,  w ← w − ηₜ ∂ / √G                        (Duchi, Hazan and Singer, 2011)
//! normalised   G ← G + ∂²,  w ← w − ηₜ √(t/N) ∂ / (s_j √G)           (Ross, Mineiro and Langford, 2013, algorithm 3)
//! ```
//!
//! with s_j the largest |x_j| so far and N = Σ over examples Σ_j x_j²/s_j². When s_j grows, the weights of input j shrink by s_old/s_new, so that its
//! unit does not matter. A penalty shrinks all weights but a free bias by 1 − ηₜ·l2 before the step. As in [`sgd`](crate::sgd()), w = a·v, and the sum
//! of all weights on the way is A·v + u.

use lineal_linalg::{Row, Sink, adapt, kernels, prefer_large_pages};

/// How a gradient becomes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The same rate for all weights.
    Plain,
    /// A rate for each weight that falls with the gradients it has seen.
    AdaGrad,
    /// That, and whatever units inputs come in.
    Normalised,
}

/// How the rate falls with the step t.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fall {
    /// Not at all.
    Constant,
    /// η / (1 + η·l2·t); without a penalty η / √(1 + t/1000).
    Inverse,
    /// 1 / (l2·t).
    Pegasos,
}

/// How to learn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineConfig {
    /// How a gradient becomes a step.
    pub rule: Rule,
    /// η.
    pub rate: f64,
    /// How it falls.
    pub fall: Fall,
    /// The factor of ½‖w‖².
    pub l2: f64,
    /// The last row is a bias.
    pub has_bias: bool,
    /// And l2 does not shrink it.
    pub bias_is_free: bool,
}

/// Weights on the way, with all that the next step needs to know.
#[derive(Clone, Debug)]
pub struct Online {
    config: OnlineConfig,
    n_rows: usize,
    n_columns: usize,
    steps: u64,
    a: f64,
    v: Vec<f32>,
    squares: Vec<f32>,
    largest: Vec<f32>,
    n: f64,
    average: Option<Mean>,
    scratch: Vec<f32>,
}

/// Σw = big_a·v + u over `steps` steps.
#[derive(Clone, Debug, Default)]
struct Mean {
    big_a: f64,
    u: Vec<f64>,
    steps: u64,
}

/// All of it but the configuration, to be kept and taken up again. Tables are `rows × columns`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OnlineState {
    /// Number of inputs, the bias included.
    pub n_rows: usize,
    /// Number of outputs.
    pub n_columns: usize,
    /// Steps so far.
    pub steps: u64,
    /// The weights now, not their mean.
    pub weights: Vec<f32>,
    /// G of each weight; empty for [`Rule::Plain`].
    pub squares: Vec<f32>,
    /// s of each input; empty but for [`Rule::Normalised`].
    pub largest: Vec<f32>,
    /// N.
    pub n: f64,
    /// The sum of the weights on the way, and of how many steps, where a mean is kept.
    pub sum: Option<(Vec<f64>, u64)>,
}

/// Zeros for weights all over which the next example may fall.
fn table(len: usize) -> Vec<f32> {
    let table = vec![0.0; len];
    prefer_large_pages(&table);
    table
}

impl OnlineState {
    /// The mean of the weights on the way, which is what to predict with, where one is kept.
    pub fn mean(&self) -> Option<Vec<f32>> {
        let (sum, steps) = self.sum.as_ref()?;
        Some(match *steps {
            0 => self.weights.clone(),
            n => sum.iter().map(|sum| (sum / n as f64) as f32).collect(),
        })
    }
}

impl Online {
    /// Weights of 0.
    pub fn new(config: OnlineConfig, n_rows: usize, n_columns: usize) -> Self {
        let state = OnlineState { n_rows, n_columns, ..OnlineState::default() };
        let len = n_rows * n_columns;
        let mut online = Self::blank(config, &state);
        online.v = table(len);
        if config.rule != Rule::Plain {
            online.squares = table(len);
        }
        if config.rule == Rule::Normalised {
            online.largest = vec![0.0; n_rows];
        }
        online
    }

    /// Where a state left off; `None` if its tables are not of its size, or not those of the rule.
    pub fn resume(config: OnlineConfig, state: OnlineState) -> Option<Self> {
        let len = state.n_rows.checked_mul(state.n_columns)?;
        let squares = if config.rule == Rule::Plain { 0 } else { len };
        let largest = if config.rule == Rule::Normalised { state.n_rows } else { 0 };
        let fits = state.weights.len() == len
            && state.squares.len() == squares
            && state.largest.len() == largest
            && state.sum.as_ref().is_none_or(|(sum, _)| sum.len() == len);
        if !fits {
            return None;
        }
        let mut online = Self::blank(config, &state);
        online.average = state.sum.map(|(u, steps)| Mean { big_a: 0.0, u, steps });
        (online.v, online.squares, online.largest) = (state.weights, state.squares, state.largest);
        Some(online)
    }

    fn blank(config: OnlineConfig, state: &OnlineState) -> Self {
        Self {
            config,
            n_rows: state.n_rows,
            n_columns: state.n_columns,
            steps: state.steps,
            a: 1.0,
            v: Vec::new(),
            squares: Vec::new(),
            largest: Vec::new(),
            n: state.n,
            average: None,
            scratch: Vec::new(),
        }
    }

    /// What [`resume`](Self::resume) takes.
    pub fn into_state(mut self) -> OnlineState {
        self.fold();
        OnlineState {
            n_rows: self.n_rows,
            n_columns: self.n_columns,
            steps: self.steps,
            weights: self.v,
            squares: self.squares,
            largest: self.largest,
            n: self.n,
            sum: self.average.map(|mean| (mean.u, mean.steps)),
        }
    }

    /// Number of inputs, the bias included.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of outputs.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The weights now are `scale · v`.
    pub fn weights(&self) -> (&[f32], f32) {
        (&self.v, self.a as f32)
    }

    /// Begins a mean anew.
    pub fn start_average(&mut self) {
        self.average = Some(Mean { u: vec![0.0; self.v.len()], ..Mean::default() });
    }

    /// Whether a mean is kept.
    pub fn averages(&self) -> bool {
        self.average.is_some()
    }

    /// Makes room: more inputs (before the bias), and more outputs, whose weights are 0. `copy` says which old column a column starts from, and the
    /// factor on its weights; the other tables are copied as they are.
    pub fn grow(
        &mut self,
        n_rows: usize,
        n_columns: usize,
        copy: impl Fn(usize) -> Option<(usize, f32)>,
    ) {
        self.fold();
        let (old_rows, old_columns) = (self.n_rows, self.n_columns);
        let bias = usize::from(self.config.has_bias);
        let place = |row: usize| if row + bias == old_rows && bias == 1 { n_rows - 1 } else { row };
        let widen = |old: &mut Vec<f32>, signed: bool| {
            let mut wide = table(n_rows * n_columns);
            for (row, old) in old.chunks_exact(old_columns).enumerate() {
                // Memory that was never written to stays so.
                if old.iter().all(|&value| value == 0.0) {
                    continue;
                }
                for column in 0..n_columns {
                    if let Some((from, by)) = copy(column) {
                        let by = if signed { by } else { 1.0 };
                        wide[place(row) * n_columns + column] = by * old[from];
                    }
                }
            }
            *old = wide;
        };
        widen(&mut self.v, true);
        if !self.squares.is_empty() {
            widen(&mut self.squares, false);
        }
        if !self.largest.is_empty() {
            let mut wide = vec![0.0; n_rows];
            (0..old_rows).for_each(|row| wide[place(row)] = self.largest[row]);
            self.largest = wide;
        }
        if let Some(mean) = &mut self.average {
            let mut wide = vec![0.0; n_rows * n_columns];
            for row in 0..old_rows {
                for column in 0..n_columns {
                    if let Some((from, by)) = copy(column) {
                        let old = mean.u[row * old_columns + from];
                        wide[place(row) * n_columns + column] = f64::from(by) * old;
                    }
                }
            }
            mean.u = wide;
        }
        (self.n_rows, self.n_columns) = (n_rows, n_columns);
    }

    /// An example is about to be scored: inputs that are larger than ever change the units of their weights.
    pub fn meet(&mut self, x: Row<'_>) {
        if self.config.rule != Rule::Normalised {
            return;
        }
        let k = self.n_columns;
        let Self { v, largest, average, n, .. } = self;
        let mut more = |row: usize, size: f32| {
            if size > largest[row] {
                let by = largest[row] / size;
                largest[row] = size;
                for at in row * k..(row + 1) * k {
                    let delta = v[at] * by - v[at];
                    v[at] += delta;
                    if let Some(mean) = average.as_mut() {
                        mean.u[at] -= mean.big_a * f64::from(delta);
                    }
                }
            }
            let share = f64::from(size / largest[row].max(f32::MIN_POSITIVE));
            *n += share * share;
        };
        x.for_each(|j, value| {
            if value != 0.0 {
                more(j, value.abs());
            }
        });
        if self.config.has_bias {
            more(self.n_rows - 1, 1.0);
        }
    }

    /// A step: `spread` adds the example's gradient to the sink. A step without a gradient counts too.
    pub fn step(&mut self, spread: impl FnOnce(&mut Move<'_>)) {
        self.steps = self.steps.saturating_add(1);
        let OnlineConfig { rule, rate, fall, l2, .. } = self.config;
        let t = self.steps as f64;
        let eta = match fall {
            Fall::Constant => rate,
            Fall::Inverse if l2 > 0.0 => rate / (1.0 + rate * l2 * t),
            Fall::Inverse => rate / (1.0 + t / 1000.0).sqrt(),
            Fall::Pegasos => 1.0 / (l2 * t),
        };
        if l2 > 0.0 {
            self.shrink((1.0 - eta * l2).max(0.0));
        }
        let by = if rule == Rule::Normalised && self.n > 0.0 { (t / self.n).sqrt() } else { 1.0 };
        let factor = (-eta * by / self.a) as f32;
        let scaled = std::mem::take(&mut self.scratch);
        let mut sink = Move { factor, scaled, online: self };
        spread(&mut sink);
        self.scratch = sink.scaled;
        let a = self.a;
        if let Some(mean) = &mut self.average {
            mean.big_a += a;
            // A model of a file may say any number.
            mean.steps = mean.steps.saturating_add(1);
        }
    }

    fn shrink(&mut self, by: f64) {
        if (self.a * by).abs() < 1e-6 {
            self.fold();
        }
        if by == 0.0 {
            return self.clear_penalised();
        }
        self.a *= by;
        let free = usize::from(self.config.has_bias && self.config.bias_is_free) * self.n_columns;
        let len = self.v.len();
        for at in len - free..len {
            let delta = self.v[at] / by as f32 - self.v[at];
            self.v[at] += delta;
            if let Some(mean) = &mut self.average {
                mean.u[at] -= mean.big_a * f64::from(delta);
            }
        }
    }

    /// A rate of 1/l2 forgets everything: the first step of Pegasos.
    fn clear_penalised(&mut self) {
        self.fold();
        let free = usize::from(self.config.has_bias && self.config.bias_is_free) * self.n_columns;
        let len = self.v.len();
        self.v[..len - free].fill(0.0);
    }

    /// Brings a to 1 and A to 0. Whoever wants the same numbers however often a state is taken calls it at fixed places.
    pub fn fold(&mut self) {
        if let Some(mean) = self.average.as_mut().filter(|mean| mean.big_a != 0.0) {
            for (u, &v) in mean.u.iter_mut().zip(&self.v) {
                *u += mean.big_a * f64::from(v);
            }
            mean.big_a = 0.0;
        }
        if self.a != 1.0 {
            let a = self.a as f32;
            self.v.iter_mut().for_each(|v| *v *= a);
            self.a = 1.0;
        }
    }
}

/// Where the gradient of a step goes.
#[derive(Debug)]
pub struct Move<'a> {
    online: &'a mut Online,
    factor: f32,
    scaled: Vec<f32>,
}

impl Move<'_> {
    /// Moves the weights by the gradients xⱼ·g, and the sum of the weights on the way with them.
    fn adapt(&mut self, at: usize, x: Row<'_>, g: &[f32]) {
        let Online { v, squares, largest, average, config, .. } = &mut *self.online;
        let (v, squares) = (&mut v[at..], &mut squares[at..]);
        let units = (config.rule == Rule::Normalised).then(|| &largest[at / g.len()..]);
        let Some(mean) = average else { return adapt(x, g, self.factor, units, v, squares) };
        let runs = |j: usize| j * g.len()..(j + 1) * g.len();
        self.scaled.clear();
        x.for_each(|j, _| self.scaled.extend_from_slice(&v[runs(j)]));
        adapt(x, g, self.factor, units, v, squares);
        let mut before = self.scaled.iter();
        x.for_each(|j, _| {
            let sums = mean.u[at..][runs(j)].iter_mut();
            for ((sum, now), before) in sums.zip(&v[runs(j)]).zip(&mut before) {
                *sum -= mean.big_a * f64::from(now - before);
            }
        });
    }
}

impl Sink<f32> for Move<'_> {
    fn add_row(&mut self, at: usize, x: Row<'_>, g: &[f32]) {
        if g.iter().all(|&g| g == 0.0) {
            return;
        }
        if self.online.config.rule != Rule::Plain {
            return self.adapt(at, x, g);
        }
        self.scaled.clear();
        self.scaled.extend(g.iter().map(|g| self.factor * g));
        kernels::add_outer(x, &self.scaled, &mut self.online.v[at..]);
        if let Some(mean) = &mut self.online.average {
            let wide: Vec<f64> = self.scaled.iter().map(|&g| -mean.big_a * f64::from(g)).collect();
            kernels::add_outer(x, &wide, &mut mean.u[at..]);
        }
    }

    fn add_block(&mut self, at: usize, g: &[f32]) {
        self.add_row(at, Row::Dense(&[1.0]), g);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(rule: Rule, l2: f64) -> OnlineConfig {
        let (rate, fall) = (0.5, Fall::Inverse);
        OnlineConfig { rule, rate, fall, l2, has_bias: true, bias_is_free: true }
    }

    /// Examples of three inputs and two outputs, with gradients that depend on the weights.
    fn run(online: &mut Online, from: u64, steps: u64, units: [f32; 3]) -> Vec<[f32; 2]> {
        let mut seen = Vec::new();
        for t in from..from + steps {
            let x = [0u64, 1, 2].map(|j| ((t * (7 + j) + 3 * j) % 11) as f32 * 0.3 - 1.0);
            let x = [0, 1, 2]
                .map(|j| if (t + j as u64).is_multiple_of(3) { 0.0 } else { x[j] * units[j] });
            let x = Row::Dense(&x);
            online.meet(x);
            let (v, a) = online.weights();
            let mut scores = [0.0f32; 2];
            kernels::scores(x, v, &mut scores);
            for (s, b) in scores.iter_mut().zip(&v[6..]) {
                *s = (*s + b) * a;
            }
            seen.push(scores);
            let g = [scores[0] - 1.0, scores[1] + (t % 4) as f32];
            online.step(|sink| {
                sink.add_row(0, x, &g);
                sink.add_block(6, &g);
            });
        }
        seen
    }

    #[test]
    fn a_state_goes_on_where_it_left_off() {
        for rule in [Rule::Plain, Rule::AdaGrad, Rule::Normalised] {
            for (l2, average) in [(0.0, false), (0.0, true), (0.01, true)] {
                let mut whole = Online::new(config(rule, l2), 4, 2);
                if average {
                    whole.start_average();
                }
                let mut half = whole.clone();
                run(&mut whole, 0, 20, [1.0; 3]);
                whole.fold();
                run(&mut whole, 20, 20, [1.0; 3]);
                run(&mut half, 0, 20, [1.0; 3]);
                let mut resumed = Online::resume(config(rule, l2), half.into_state()).unwrap();
                run(&mut resumed, 20, 20, [1.0; 3]);
                assert_eq!(resumed.into_state(), whole.into_state(), "{rule:?} {l2} {average}");
            }
        }
    }

    #[test]
    fn rules_do_what_they_say_weight_by_weight() {
        let x = Row::Dense(&[2.0, 0.0, -4.0]);
        let g = [1.0, -3.0];
        let moved = |rule: Rule| {
            let config = OnlineConfig { fall: Fall::Constant, ..config(rule, 0.0) };
            let mut online = Online::new(config, 4, 2);
            for _ in 0..2 {
                online.meet(x);
                online.step(|sink| sink.add_row(0, x, &g));
            }
            online.into_state().weights
        };
        // η = 0.5: twice −0.5·∂; then −0.5·∂/|∂| and −0.5·∂/(√2|∂|).
        assert_eq!(moved(Rule::Plain)[..6], [-2.0, 6.0, 0.0, 0.0, 4.0, -12.0]);
        let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
        let step = 0.5 + 0.5 / 2f32.sqrt();
        assert!(close(&moved(Rule::AdaGrad), &[-step, step, 0.0, 0.0, step, -step]));
        // Two inputs and the bias at their largest: N = 3t, so √(t/N) = 1/√3.
        let step = step / 3f32.sqrt();
        let want = [-step / 2.0, step / 2.0, 0.0, 0.0, step / 4.0, -step / 4.0];
        assert!(close(&moved(Rule::Normalised), &want), "{:?}", moved(Rule::Normalised));
    }

    #[test]
    fn normalised_scores_do_not_depend_on_units() {
        let scores =
            |units| run(&mut Online::new(config(Rule::Normalised, 0.0), 4, 2), 0, 60, units);
        let (one, other) = (scores([1.0; 3]), scores([1000.0, 0.001, 8.0]));
        for (a, b) in one.iter().flatten().zip(other.iter().flatten()) {
            assert!((a - b).abs() < 1e-3 * (1.0 + a.abs()), "{a} {b}");
        }
    }

    #[test]
    fn the_mean_is_the_mean() {
        for (rule, l2) in [(Rule::Plain, 0.02), (Rule::AdaGrad, 0.0), (Rule::Normalised, 0.02)] {
            let mut online = Online::new(config(rule, l2), 4, 2);
            online.start_average();
            let mut sum = [0.0f64; 8];
            for t in 0..50 {
                run(&mut online, t, 1, [1.0; 3]);
                let (v, a) = online.weights();
                sum.iter_mut().zip(v).for_each(|(s, v)| *s += f64::from(v * a));
            }
            for (mean, sum) in online.into_state().mean().unwrap().iter().zip(sum) {
                assert!((f64::from(*mean) - sum / 50.0).abs() < 1e-4, "{rule:?}: {mean} {sum}");
            }
        }
    }

    #[test]
    fn growing_keeps_what_was_learnt() {
        let mut online = Online::new(config(Rule::Normalised, 0.0), 3, 1);
        online.start_average();
        let x = Row::Dense(&[1.0, 2.0]);
        online.meet(x);
        online.step(|sink| {
            sink.add_row(0, x, &[1.0]);
            sink.add_block(2, &[1.0]);
        });
        let old = online.clone().into_state().mean().unwrap();
        online.grow(5, 3, |c| [Some((0, -0.5)), Some((0, 0.5)), None][c]);
        let state = online.into_state();
        let new = state.mean().unwrap();
        for (row, place) in [(0, 0), (1, 1), (2, 4)] {
            assert_eq!(new[3 * place..][..3], [-0.5 * old[row], 0.5 * old[row], 0.0]);
        }
        assert_eq!(state.largest, [1.0, 2.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_state_of_another_rule_is_refused() {
        let state = Online::new(config(Rule::AdaGrad, 0.0), 4, 2).into_state();
        assert!(Online::resume(config(Rule::Plain, 0.0), state.clone()).is_none());
        assert!(Online::resume(config(Rule::Normalised, 0.0), state.clone()).is_none());
        let state = OnlineState { n_rows: usize::MAX, ..state };
        assert!(Online::resume(config(Rule::AdaGrad, 0.0), state).is_none());
    }
}
