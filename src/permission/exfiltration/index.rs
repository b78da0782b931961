//! Which texts have a long piece in common? By winnowed fingerprints: of every
//! [`WINDOW`] neighbouring hashes the smallest is kept, in the index as in what is looked up, so
//! that any common piece of [`PIECE`] bytes shares one. A hit is verified byte by byte.

use std::collections::HashMap;

/// Bytes under one hash.
const GRAM: usize = 16;
/// Hashes of which one is kept.
const WINDOW: usize = 17;
/// Bytes of a common piece that is surely found; shorter ones are no piece.
pub const PIECE: usize = GRAM + WINDOW - 1;
/// Places with the same hash that are compared: a text that repeats itself must not cost more.
const PLACES: usize = 16;
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Bytes from `start` up to `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    pub(super) fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    fn covers(&self, other: &Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// What is left of it without those of `others`, which are sorted.
    pub(super) fn without(self, others: &[Self]) -> Vec<Self> {
        let mut left = Vec::new();
        let mut start = self.start;
        for other in others {
            if other.end <= start {
                continue;
            }
            if other.start >= self.end {
                break;
            }
            left.push(Self { start, end: other.start.max(start) });
            start = start.max(other.end);
        }
        left.push(Self { start, end: self.end });
        left.retain(|span| span.len() > 0);
        left
    }
}

/// Texts, whose they are, and the fingerprints in them.
#[derive(Debug)]
pub(super) struct Index<T> {
    texts: Vec<(T, Vec<u8>)>,
    /// The latest place of each hash.
    latest: HashMap<u64, u32>,
    places: Vec<Place>,
    size: usize,
}

/// Where a hash stands, and where it stood before.
#[derive(Debug)]
struct Place {
    text: u32,
    at: u32,
    before: Option<u32>,
}

impl<T> Default for Index<T> {
    fn default() -> Self {
        Self { texts: Vec::new(), latest: HashMap::new(), places: Vec::new(), size: 0 }
    }
}

impl<T> Index<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Bytes of all texts.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn add(&mut self, whose: T, bytes: Vec<u8>) {
        let Ok(text) = u32::try_from(self.texts.len()) else { return };
        fingerprints(&bytes, |hash, at| {
            let (Ok(at), Ok(next)) = (u32::try_from(at), u32::try_from(self.places.len())) else {
                return;
            };
            let before = self.latest.insert(hash, next);
            self.places.push(Place { text, at, before });
        });
        self.size += bytes.len();
        self.texts.push((whose, bytes));
    }

    /// The pieces of `bytes` that stand in a text of the index, with whose it is. All are at least
    /// [`GRAM`] long; several may overlap.
    pub(super) fn matches(&self, bytes: &[u8]) -> Vec<(&T, Span)> {
        let mut found: HashMap<u32, Vec<Span>> = HashMap::new();
        fingerprints(bytes, |hash, at| {
            let here = Span { start: at, end: at + GRAM };
            let mut next = self.latest.get(&hash).copied();
            for _ in 0..PLACES {
                let Some(place) =
                    next.and_then(|next| self.places.get(usize::try_from(next).ok()?))
                else {
                    return;
                };
                next = place.before;
                let spans = found.entry(place.text).or_default();
                // Later fingerprints lie behind: only the last spans can cover this one.
                if spans.iter().rev().take(PLACES).any(|span| span.covers(&here)) {
                    continue;
                }
                spans.extend(self.common(bytes, at, place));
            }
        });
        let whose = |text: u32| self.texts.get(usize::try_from(text).ok()?).map(|(whose, _)| whose);
        let with = |(text, spans): (u32, Vec<Span>)| {
            whose(text).map(|whose| spans.into_iter().map(move |span| (whose, span)))
        };
        found.into_iter().filter_map(with).flatten().collect()
    }

    /// The whole piece that two texts have in common around a hit.
    fn common(&self, bytes: &[u8], at: usize, place: &Place) -> Option<Span> {
        let (_, theirs) = self.texts.get(usize::try_from(place.text).ok()?)?;
        let other = usize::try_from(place.at).ok()?;
        let (before, behind) = bytes.split_at_checked(at)?;
        let (their_before, their_behind) = theirs.split_at_checked(other)?;
        let same = |(a, b): &(&u8, &u8)| a == b;
        let right = behind.iter().zip(their_behind).take_while(same).count();
        if right < GRAM {
            return None;
        }
        let left = before.iter().rev().zip(their_before.iter().rev()).take_while(same).count();
        Some(Span { start: at - left, end: at + right })
    }
}

/// Gives the hashes that are kept of a text, and where each begins.
fn fingerprints(bytes: &[u8], mut keep: impl FnMut(u64, usize)) {
    let mut window: [u64; WINDOW] = [u64::MAX; WINDOW];
    let mut best: Option<(u64, usize)> = None;
    let out_of = BASE.wrapping_pow(u32::try_from(GRAM).unwrap_or_default());
    let mut rolling = 0_u64;
    for (index, byte) in bytes.iter().enumerate() {
        rolling = rolling.wrapping_mul(BASE).wrapping_add(u64::from(*byte) + 1);
        let Some(at) = (index + 1).checked_sub(GRAM) else { continue };
        if let Some(gone) = at.checked_sub(1).and_then(|gone| bytes.get(gone)) {
            rolling = rolling.wrapping_sub(out_of.wrapping_mul(u64::from(*gone) + 1));
        }
        let hash = mixed(rolling);
        if let Some(slot) = window.get_mut(at % WINDOW) {
            *slot = hash;
        }
        let fell_out = best.is_none_or(|(_, place)| place + WINDOW <= at);
        if fell_out {
            best = smallest(&window, at);
        } else if best.is_some_and(|(least, _)| hash <= least) {
            best = Some((hash, at));
        } else {
            continue;
        }
        // Before the first window is full nothing is settled, but nothing is lost by keeping more.
        if let Some((hash, place)) = best {
            keep(hash, place);
        }
    }
}

/// The smallest hash of the window that ends at `at`, the last of several.
fn smallest(window: &[u64; WINDOW], at: usize) -> Option<(u64, usize)> {
    let first = (at + 1).saturating_sub(WINDOW);
    let hashes = (first..=at).filter_map(|place| Some((*window.get(place % WINDOW)?, place)));
    hashes.min_by_key(|(hash, place)| (*hash, std::cmp::Reverse(*place)))
}

/// Spreads the bits, so that small hashes say nothing about the text.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spans_are_taken_out_of_one_another() {
        let span = |start, end| Span { start, end };
        let left = span(0, 10).without(&[span(2, 4), span(3, 5), span(8, 20)]);
        assert_eq!(left, [span(0, 2), span(5, 8)]);
        assert_eq!(span(2, 4).without(&[span(0, 9)]), []);
        assert_eq!(span(2, 4).without(&[]), [span(2, 4)]);
    }

    proptest! {
        #[test]
        fn a_common_piece_is_found_wherever_it_stands(
            before in "[a-f]{0,80}", piece in "[a-z0-9]{32,90}", behind in "[a-f]{0,80}",
            left in "[g-m]{0,80}", right in "[g-m]{0,80}",
        ) {
            let mut index = Index::default();
            index.add((), format!("{before}{piece}{behind}").into_bytes());
            let text = format!("{left}{piece}{right}");
            let found = index.matches(text.as_bytes());
            let longest = found.iter().map(|((), span)| span.len()).max().unwrap_or_default();
            prop_assert!(longest >= piece.len(), "{longest} of {}", piece.len());
        }

        #[test]
        fn what_is_found_stands_in_both(one in "[ab]{0,200}", two in "[ab]{0,200}") {
            let mut index = Index::default();
            index.add((), one.clone().into_bytes());
            for ((), span) in index.matches(two.as_bytes()) {
                prop_assert!(one.contains(two.get(span.start..span.end).unwrap()));
            }
        }
    }
}
