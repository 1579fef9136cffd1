//! The assignment of documents to ranks of greatest sum, in n³: the Hungarian algorithm.
//!
//! Kuhn 1955, in the form of Jonker and Volgenant: documents are placed one by one along a shortest augmenting path, with prices of documents and ranks that keep all reduced values ≤ 0, and 0 on the
//! assignment. Rank n stands for the document that is being placed.

/// The document of each rank. If values are not numbers, any order.
pub(super) fn assign(n: usize, value: &dyn Fn(usize, usize) -> f64) -> Vec<u32> {
    let (mut document_price, mut rank_price) = (vec![0.0; n], vec![0.0; n + 1]);
    let mut document_at: Vec<Option<usize>> = vec![None; n + 1];
    let (mut distance, mut before) = (vec![0.0; n], vec![n; n]);
    let mut done = vec![false; n + 1];
    for placed in 0..n {
        document_at[n] = Some(placed);
        distance.fill(f64::INFINITY);
        done.fill(false);
        let mut at = n;
        while let Some(document) = document_at[at] {
            done[at] = true;
            let (mut nearest, mut next) = (f64::INFINITY, None);
            for rank in (0..n).filter(|&rank| !done[rank]) {
                let through = document_price[document] + rank_price[rank] - value(document, rank);
                if through < distance[rank] {
                    (distance[rank], before[rank]) = (through, at);
                }
                if distance[rank] < nearest {
                    (nearest, next) = (distance[rank], Some(rank));
                }
            }
            let Some(next) = next else {
                return (0..n as u32).collect();
            };
            // Prices move so that the nearest rank becomes free of charge; distances are kept relative to them.
            for rank in 0..=n {
                match (done[rank], document_at[rank]) {
                    (true, Some(document)) => {
                        document_price[document] -= nearest;
                        rank_price[rank] += nearest;
                    }
                    _ if rank < n => distance[rank] -= nearest,
                    _ => {}
                }
            }
            at = next;
        }
        while at != n {
            document_at[at] = document_at[before[at]];
            at = before[at];
        }
    }
    let documents = document_at[..n].iter().zip(0..);
    documents.map(|(document, rank)| document.unwrap_or(rank) as u32).collect()
}
