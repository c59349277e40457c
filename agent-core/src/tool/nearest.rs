//! The name that was meant by a name that is none.

/// Longer names are not compared: a model can write a name of any length.
const LONGEST: usize = 64;

/// The name most like `name`, if one is like enough to have been meant.
///
/// Names that differ in case, `_`, `-` and spaces alone are equal; else a third of the
/// characters may differ, at least one.
pub(crate) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = plain(name)?;
    let distances = names.into_iter().filter_map(|other| {
        let other_plain = self::plain(other)?;
        let distance = distance(&plain, &other_plain);
        let allowed = (plain.len().min(other_plain.len()) / 3).max(1);
        (distance <= allowed && distance < plain.len()).then_some((distance, other))
    });
    distances
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

fn plain(name: &str) -> Option<Vec<char>> {
    let letters = name
        .chars()
        .filter(|letter| !matches!(letter, '_' | '-' | ' '));
    let letters: Vec<char> = letters
        .flat_map(char::to_lowercase)
        .take(LONGEST + 1)
        .collect();
    (letters.len() <= LONGEST).then_some(letters)
}

/// How many letters to add, drop, change or swap with their neighbour (optimal string
/// alignment).
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other_letter) in other.iter().enumerate() {
            let changed = above[column] + usize::from(letter != other_letter);
            let mut least = changed.min(above[column + 1] + 1).min(line[column] + 1);
            let swapped = row > 0
                && column > 0
                && one[row - 1] == *other_letter
                && other[column - 1] == *letter;
            if swapped {
                least = least.min(before[column - 1] + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut above, line);
    }
    above[other.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_seen_through_and_another_word_is_not() {
        let names = ["city", "days_ahead", "unit", "id"];
        for (name, meant) in [
            ("citty", Some("city")),
            ("City", Some("city")),
            ("ctiy", Some("city")),
            ("daysAhead", Some("days_ahead")),
            ("days_a_head", Some("days_ahead")),
            ("units", Some("unit")),
            ("country", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names), meant, "{name}");
        }
        assert_eq!(nearest(&"city".repeat(100_000), names), None);
    }
}
