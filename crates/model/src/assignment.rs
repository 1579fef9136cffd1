//! The assignment problem: each row to a column of its own, with the greatest sum, in n³ by the Hungarian algorithm.
//!
//! Kuhn 1955, in the form of Jonker and Volgenant: rows are placed one by one along a shortest augmenting path, with prices of rows and columns that keep all reduced values ≤ 0, and 0 on the assignment.
//! Column n stands for the row that is being placed.

/// The row of each column. If values are not numbers, any assignment.
pub fn assign(n: usize, value: &dyn Fn(usize, usize) -> f64) -> Vec<u32> {
    let (mut row_price, mut column_price) = (vec![0.0; n], vec![0.0; n + 1]);
    let mut row_at: Vec<Option<usize>> = vec![None; n + 1];
    let (mut distance, mut before) = (vec![0.0; n], vec![n; n]);
    let mut done = vec![false; n + 1];
    for placed in 0..n {
        row_at[n] = Some(placed);
        distance.fill(f64::INFINITY);
        done.fill(false);
        let mut at = n;
        while let Some(row) = row_at[at] {
            done[at] = true;
            let (mut nearest, mut next) = (f64::INFINITY, None);
            for column in (0..n).filter(|&column| !done[column]) {
                let through = row_price[row] + column_price[column] - value(row, column);
                if through < distance[column] {
                    (distance[column], before[column]) = (through, at);
                }
                if distance[column] < nearest {
                    (nearest, next) = (distance[column], Some(column));
                }
            }
            let Some(next) = next else {
                return (0..n as u32).collect();
            };
            // Prices move so that the nearest column becomes free of charge; distances are kept relative to them.
            for column in 0..=n {
                match (done[column], row_at[column]) {
                    (true, Some(row)) => {
                        row_price[row] -= nearest;
                        column_price[column] += nearest;
                    }
                    _ if column < n => distance[column] -= nearest,
                    _ => {}
                }
            }
            at = next;
        }
        while at != n {
            row_at[at] = row_at[before[at]];
            at = before[at];
        }
    }
    let rows = row_at[..n].iter().zip(0..);
    rows.map(|(row, column)| row.unwrap_or(column) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::assign;
    use proptest::prelude::*;

    fn best(n: usize, used: &mut Vec<usize>, value: &dyn Fn(usize, usize) -> f64) -> f64 {
        if used.len() == n {
            return 0.0;
        }
        let column = used.len();
        let mut most = f64::NEG_INFINITY;
        for row in 0..n {
            if !used.contains(&row) {
                used.push(row);
                most = most.max(value(row, column) + best(n, used, value));
                used.pop();
            }
        }
        most
    }

    proptest! {
        #[test]
        fn no_permutation_is_better(n in 1usize..6, values in prop::collection::vec(-5.0f64..5.0, 36)) {
            let value = |row: usize, column: usize| values[row * 6 + column];
            let rows = assign(n, &value);
            let mut sorted = rows.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..n as u32).collect::<Vec<_>>());
            let sum: f64 = rows.iter().enumerate().map(|(c, &r)| value(r as usize, c)).sum();
            prop_assert!((sum - best(n, &mut Vec::new(), &value)).abs() < 1e-9);
        }
    }
}
