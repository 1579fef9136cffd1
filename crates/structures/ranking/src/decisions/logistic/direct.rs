//! All pairs one by one, with one exponential per document and one division per pair.
//!
//! With t = exp(scoreⱼ − scoreᵢ) a pair has the loss log(1 + t) and the gradient t / (1 + t). t is a product of two numbers per document as long as the scores of the query are not too
//! far apart, and logarithms are taken of products: p ← p + t(1 + p) is Π(1 + t) − 1 without cancellation, also where all t are tiny.

use lineal_linalg::special::sigmoid_log1p_exp;

/// Scores that are no further apart have products of exponentials that neither overflow nor vanish.
const WIDEST: f64 = 200.0;
/// Above this the logarithm of a product is taken; times e²⁰⁰ ≈ 7e86 it is still finite.
const LARGEST: f64 = 1e200;

/// Adds Σ σ(low − high) to either side; returns Σ log(1 + exp(low − high)). Both lists rise.
pub(super) fn add(high: &[f64], low: &[f64], of_high: &mut [f64], of_low: &mut [f64]) -> f64 {
    let (Some(&first), Some(&last)) = (high.first(), high.last()) else { return 0.0 };
    let (Some(&first_low), Some(&last_low)) = (low.first(), low.last()) else { return 0.0 };
    let (least, most) = (first.min(first_low), last.max(last_low));
    if most - least <= WIDEST {
        return by_products(high, low, of_high, of_low, 0.5 * (least + most));
    }
    let mut value = 0.0;
    for (&i, of_i) in high.iter().zip(of_high) {
        // A sum per row: a hundred thousand terms one by one would lose four digits.
        let (mut sum, mut losses) = (0.0, 0.0);
        for (&j, of_j) in low.iter().zip(of_low.iter_mut()) {
            let (sigma, loss) = sigmoid_log1p_exp(j - i);
            losses += loss;
            sum += sigma;
            *of_j += sigma;
        }
        value += losses;
        *of_i += sum;
    }
    value
}

fn by_products(
    high: &[f64],
    low: &[f64],
    of_high: &mut [f64],
    of_low: &mut [f64],
    middle: f64,
) -> f64 {
    let (mut value, mut product) = (0.0, 0.0f64);
    let mut powers = [0.0f64; BLOCK];
    for (low, of_low) in low.chunks(BLOCK).zip(of_low.chunks_mut(BLOCK)) {
        let powers = &mut powers[..low.len()];
        powers.iter_mut().zip(low).for_each(|(power, &j)| *power = (j - middle).exp());
        for (&i, of_i) in high.iter().zip(of_high.iter_mut()) {
            let inverse = (middle - i).exp();
            let mut sum = 0.0;
            for (&power, of_j) in powers.iter().zip(of_low.iter_mut()) {
                let t = power * inverse;
                let sigma = t / (1.0 + t);
                sum += sigma;
                *of_j += sigma;
                product += t * (1.0 + product);
                if product > LARGEST {
                    value += product.ln_1p();
                    product = 0.0;
                }
            }
            *of_i += sum;
        }
    }
    value + product.ln_1p()
}

/// Worse documents at a time.
const BLOCK: usize = 64;
