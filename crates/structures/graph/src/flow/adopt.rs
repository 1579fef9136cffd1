//! Orphans look for a parent: a neighbour of their own tree with an open arc, whose way to the terminal is not through another orphan, and of these one that is near the terminal.

use super::network::{CHUNK, Network, QUEUED, Stored, select};
use super::{Capacity, Flow};

impl<N: Network> Flow<N> {
    /// Until every node of a tree has its way to the terminal again.
    pub(super) fn adopt_all(&mut self) {
        while let Some(place) = self.orphans.pop_front() {
            let node = self.net.node(place);
            // A changed terminal may have made it a root meanwhile.
            if node.parent == N::Parent::ORPHAN {
                match node.is_sink() {
                    true => self.adopt::<true>(place),
                    false => self.adopt::<false>(place),
                }
            }
        }
    }

    #[inline(always)]
    fn adopt<const IN_SINK: bool>(&mut self, place: u32) {
        let Self { net, orphans, queue, time, .. } = self;
        let links = net.links(place);
        let mut best = None;
        let mut nearest = u32::MAX;
        'links: for from in links.clone().step_by(CHUNK) {
            for link in select(from, links.end, |link| {
                let head = net.head(place, link);
                (open::<N, IN_SINK>(net, place, link) > N::Cap::ZERO)
                    & net.node(head).is_in(IN_SINK)
            }) {
                if let Some(distance) = distance(net, net.head(place, link), *time) {
                    if distance < nearest {
                        (best, nearest) = (Some(link), distance);
                    }
                    if nearest == 1 {
                        break 'links;
                    }
                }
            }
        }
        if let Some(link) = best {
            let distance = u16::try_from(nearest + 1).unwrap_or(u16::MAX);
            net.node_mut(place).join(IN_SINK, N::Parent::new(link), *time, distance);
            return;
        }
        // It is free, and its children are orphans. Those that can take it in must look at it again.
        for from in links.clone().step_by(CHUNK) {
            for link in
                select(from, links.end, |link| net.node(net.head(place, link)).is_in(IN_SINK))
            {
                let (head, back) = (net.head(place, link), net.back(link));
                let open = open::<N, IN_SINK>(net, place, link);
                let other = net.node_mut(head);
                if other.parent == N::Parent::new(back) {
                    other.parent = N::Parent::ORPHAN;
                    orphans.push_back(head);
                }
                if (open > N::Cap::ZERO) & (other.flags & QUEUED == 0) {
                    other.flags |= QUEUED;
                    queue.push(head);
                }
            }
        }
        net.node_mut(place).parent = N::Parent::FREE;
    }
}

/// What can still flow from a neighbour to a node of the source's tree, or from a node of the sink's tree to a neighbour.
#[inline(always)]
fn open<N: Network, const IN_SINK: bool>(net: &N, place: u32, link: u32) -> N::Cap {
    match IN_SINK {
        true => net.residual(place, link),
        false => net.residual(net.head(place, link), net.back(link)),
    }
}

/// The number of arcs from a place to its terminal, or nothing if an orphan is on the way. What it learns on the way is stamped with the time.
#[inline(always)]
fn distance<N: Network>(net: &mut N, place: u32, time: u32) -> Option<u32> {
    let mut total = 0u32;
    let mut at = place;
    loop {
        let node = net.node_mut(at);
        if node.stamp == time {
            total += u32::from(node.distance);
            break;
        }
        total += 1;
        if node.parent == N::Parent::TERMINAL {
            (node.stamp, node.distance) = (time, 1);
            break;
        }
        if node.parent == N::Parent::ORPHAN {
            return None;
        }
        let link = node.parent.link();
        at = net.head(at, link);
    }
    let (mut left, mut at) = (total, place);
    loop {
        let node = net.node_mut(at);
        if node.stamp == time {
            return Some(total);
        }
        (node.stamp, node.distance) = (time, u16::try_from(left).unwrap_or(u16::MAX));
        left -= 1;
        let link = node.parent.link();
        at = net.head(at, link);
    }
}
