//! Products of up to `degree` of `n` numbers, in the order of scikit-learn's `PolynomialFeatures`: by degree, then by
//! position, as words are ordered in a dictionary.

/// The order of all products of degree two and more.
#[derive(Clone, Debug)]
pub(crate) struct Monomials {
    n: usize,
    degree: usize,
    /// `multisets[r][k]`: in how many ways `r` of `k` things can be drawn, each any number of times.
    multisets: Vec<Vec<u64>>,
}

impl Monomials {
    /// How many products there are; `None` beyond 2⁶⁴.
    pub(crate) fn count(n: usize, degree: usize) -> Option<u64> {
        // All up to the degree, without 1 and the numbers themselves: C(n + degree, degree) − 1 − n.
        let mut all = 1u128;
        for i in 1..=degree as u128 {
            all = all.checked_mul(n as u128 + i)? / i;
        }
        u64::try_from(all - 1 - n as u128).ok()
    }

    /// The caller has looked at [`count`](Self::count).
    pub(crate) fn new(n: usize, degree: usize) -> Self {
        let mut multisets = vec![vec![1u64; n + 1]];
        for r in 1..=degree {
            // Either the last thing is not drawn, or it is and may be again.
            let mut row = vec![0u64; n + 1];
            for k in 1..=n {
                row[k] = row[k - 1] + multisets[r - 1][k];
            }
            multisets.push(row);
        }
        Self { n, degree, multisets }
    }

    /// Calls `f(place, product)` for the products of the given numbers, each with its position; positions rise.
    pub(crate) fn for_each(&self, numbers: &[(u32, f32)], f: &mut impl FnMut(u64, f32)) {
        let mut first = 0;
        for degree in 2..=self.degree {
            self.walk(numbers, (degree, 0), (first, 1.0), f);
            first += self.multisets[degree][self.n];
        }
    }

    /// Products with `r` more factors, from position `low` on. `place` counts all products before the first of these.
    fn walk(
        &self,
        numbers: &[(u32, f32)],
        (r, low): (usize, usize),
        (place, product): (u64, f64),
        f: &mut impl FnMut(u64, f32),
    ) {
        let ways = &self.multisets[r];
        for (i, &(at, value)) in numbers.iter().enumerate() {
            // Those that start between `low` and this position come before.
            let place = place + ways[self.n - low] - ways[self.n - at as usize];
            let product = product * f64::from(value);
            if r == 1 {
                f(place, product as f32);
            } else {
                self.walk(&numbers[i..], (r - 1, at as usize), (place, product), f);
            }
        }
    }

    /// The positions of a product's factors.
    pub(crate) fn factors(&self, mut place: u64) -> Vec<usize> {
        let mut degree = 2;
        while degree < self.degree && place >= self.multisets[degree][self.n] {
            place -= self.multisets[degree][self.n];
            degree += 1;
        }
        let (mut low, mut factors) = (0, Vec::new());
        for r in (1..=degree).rev() {
            let ways = &self.multisets[r];
            while low + 1 < self.n && place >= ways[self.n - low] - ways[self.n - low - 1] {
                place -= ways[self.n - low] - ways[self.n - low - 1];
                low += 1;
            }
            factors.push(low);
        }
        factors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_order_of_scikit_learn() {
        // PolynomialFeatures(3, include_bias=False).fit([[0, 0, 0]]).get_feature_names_out(['a', 'b', 'c'])[3:]
        let want = "aa ab ac bb bc cc aaa aab aac abb abc acc bbb bbc bcc ccc";
        let order = Monomials::new(3, 3);
        assert_eq!(Monomials::count(3, 3), Some(16));
        let name = |place| order.factors(place).into_iter().map(|i| ['a', 'b', 'c'][i]).collect();
        let names: Vec<String> = (0..16).map(name).collect();
        assert_eq!(names.join(" "), want);
        let mut products = Vec::new();
        order.for_each(&[(0, 2.0), (1, 3.0), (2, 5.0)], &mut |place, p| products.push((place, p)));
        // PolynomialFeatures(3, include_bias=False).fit_transform([[2, 3, 5]])[0, 3:]
        let values = [4, 6, 10, 9, 15, 25, 8, 12, 20, 18, 30, 50, 27, 45, 75, 125];
        let want: Vec<(u64, f32)> = (0..).zip(values.map(|v| v as f32)).collect();
        assert_eq!(products, want);
    }

    #[test]
    fn too_many_to_count() {
        assert_eq!(Monomials::count(1_000_000, 2), Some(500_000_500_000));
        assert_eq!(Monomials::count(usize::MAX / 2, 6), None);
        assert_eq!(Monomials::count(0, 3), Some(0));
    }

    proptest! {
        #[test]
        fn places_lead_back_to_factors(n in 1usize..7, degree in 2usize..5, skip in 0u32..3) {
            let order = Monomials::new(n, degree);
            let numbers: Vec<(u32, f32)> =
                (0..n as u32).filter(|i| skip == 0 || i % (skip + 1) == 0).map(|i| (i, i as f32 + 1.5)).collect();
            let mut last = None;
            order.for_each(&numbers, &mut |place, product| {
                assert!(last < Some(place));
                last = Some(place);
                let want: f64 = order.factors(place).iter().map(|&i| i as f64 + 1.5).product();
                assert!((f64::from(product) - want).abs() <= 1e-6 * want);
            });
            if skip == 0 {
                prop_assert_eq!(last, Monomials::count(n, degree).unwrap().checked_sub(1));
            }
        }
    }
}
