//! What a grade is worth, and what a rank is worth.

use crate::queries::Query;

/// The gain of a grade. Grades below 0 gain nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gain {
    /// 2^grade − 1, as in Burges et al. 2005 and most evaluations.
    #[default]
    Exponential,
    /// The grade itself, as in Järvelin and Kekäläinen 2002 and scikit-learn's `ndcg_score`.
    Linear,
}

impl Gain {
    /// The gain of a grade.
    pub fn of(self, grade: f64) -> f64 {
        self.scaled(grade, 0.0)
    }

    /// The gain over 2^`top`, finite for every grade up to `top`; a linear one as it is.
    fn scaled(self, grade: f64, top: f64) -> f64 {
        let grade = grade.max(0.0);
        match self {
            Self::Exponential if top > 50.0 => (grade - top).exp2() - (-top).exp2(),
            Self::Exponential => ((grade * std::f64::consts::LN_2).exp_m1()) / top.exp2(),
            Self::Linear => grade,
        }
    }

    /// Leaves the gain of each document, up to a factor for all of them, in `gains`. False if none gains anything.
    pub(crate) fn of_query(
        self,
        query: &Query<'_>,
        grade: &dyn Fn(u32) -> f64,
        gains: &mut [f64],
    ) -> bool {
        let top = query.by_grade.first().map_or(0.0, |&document| grade(document));
        for (document, gain) in (0..).zip(gains.iter_mut()) {
            *gain = self.scaled(grade(document), top.max(0.0));
        }
        top > 0.0
    }
}

/// 1 / log₂(1 + rank) for ranks from 1; here they are counted from 0.
pub fn discount(rank: usize) -> f64 {
    1.0 / (rank as f64 + 2.0).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_those_of_the_formula() {
        for grade in [0.0, 1.0, 2.0, 4.0, 0.5] {
            let expected = 2f64.powf(grade) - 1.0;
            assert!((Gain::Exponential.of(grade) - expected).abs() < 1e-14 * (1.0 + expected));
            assert_eq!(Gain::Linear.of(grade), grade);
        }
        assert_eq!((Gain::Exponential.of(-3.0), Gain::Linear.of(-3.0)), (0.0, 0.0));
        assert_eq!((discount(0), discount(2)), (1.0, 0.5));
    }
}
