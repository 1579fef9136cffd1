//! Which of the sixteen weights of a feature a part uses: direction alone, and direction with distance.
//!
//! A feature has sixteen neighbouring weights: one cache line of f32, or two where the table does not begin at one, so that a look-up of the second slot mostly costs
//! nothing once the first is there. (A sketch before this one was 1.5 times as fast as with a hash for each slot.) Slot s of the feature with hash r is the weight
//! r ⊕ s: sixteen different places in the sixteen around r, shuffled by r's own low bits, so that features which use few of their slots share a line without meeting.

/// Two of the sixteen slots.
pub(crate) type Slots = [u32; 2];

/// 0 to 6: the distance of two words, in steps that grow.
#[inline]
fn distance_bin(a: usize, b: usize) -> u32 {
    match a.abs_diff(b) {
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 | 5 => 3,
        6..=9 => 4,
        10..=17 => 5,
        _ => 6,
    }
}

/// Of an arc: direction, direction × distance.
#[inline]
pub(crate) fn of_arc(h: usize, m: usize) -> Slots {
    let direction = u32::from(h < m);
    [direction, 2 + direction * 7 + distance_bin(h, m)]
}

/// Of successive modifiers: direction, direction × distance between the two (or from the head, for the first).
#[inline]
pub(crate) fn of_sibling(h: usize, s: Option<usize>, m: usize) -> Slots {
    let direction = u32::from(h < m);
    [direction, 2 + direction * 7 + distance_bin(s.unwrap_or(h), m)]
}

/// Of a word, its head and that one's head: the two directions, and these with a coarse distance.
#[inline]
pub(crate) fn of_grandparent(g: usize, h: usize, m: usize) -> Slots {
    let directions = u32::from(g < h) * 2 + u32::from(h < m);
    let far = match g.abs_diff(m) {
        0..=2 => 0,
        3..=6 => 1,
        _ => 2,
    };
    [directions, 4 + directions * 3 + far]
}

fn side(from: usize, to: usize) -> &'static str {
    if from < to { "right" } else { "left" }
}

fn distance_name(a: usize, b: usize) -> &'static str {
    ["1", "2", "3", "4-5", "6-9", "10-17", "18+"][distance_bin(a, b) as usize]
}

/// The slots of an arc in words.
pub(crate) fn names_of_arc(h: usize, m: usize) -> [String; 2] {
    let side = side(h, m);
    [side.into(), format!("{side} {}", distance_name(h, m))]
}

/// The slots of successive modifiers in words.
pub(crate) fn names_of_sibling(h: usize, s: Option<usize>, m: usize) -> [String; 2] {
    let side = side(h, m);
    [side.into(), format!("{side} {}", distance_name(s.unwrap_or(h), m))]
}

/// The slots of a word, its head and that one's head in words.
pub(crate) fn names_of_grandparent(g: usize, h: usize, m: usize) -> [String; 2] {
    let sides = format!("{} {}", side(g, h), side(h, m));
    let far = match g.abs_diff(m) {
        0..=2 => "1-2",
        3..=6 => "3-6",
        _ => "7+",
    };
    [sides.clone(), format!("{sides} {far}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_sixteen_at_most() {
        for h in 0..50 {
            for m in 1..50 {
                assert!(of_arc(h, m).iter().all(|&slot| slot < 16));
                for x in 0..50 {
                    assert!(of_grandparent(x, h, m).iter().all(|&slot| slot < 16));
                    assert!(of_sibling(h, Some(x), m).iter().all(|&slot| slot < 16));
                }
            }
        }
    }

    #[test]
    fn direction_and_distance_differ() {
        assert_ne!(of_arc(2, 4), of_arc(4, 2));
        assert_ne!(of_arc(2, 4)[1], of_arc(2, 5)[1]);
        assert_eq!(of_arc(2, 4)[0], of_arc(2, 5)[0]);
    }
}
