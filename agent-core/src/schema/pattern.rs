//! A text that a pattern matches, for the part of regular expressions that schemas are written in.
//!
//! What is made is held against the pattern by who asks for it: what is not understood here, such
//! as a word boundary, may be read over.

use std::iter::Peekable;
use std::str::Chars;

/// Deeper than this no group is followed.
const DEEPEST: usize = 16;

/// Most steps that a text takes.
const MOST_STEPS: usize = 10_000;

/// A pattern, or a part of one.
#[derive(Debug)]
pub(super) enum Pattern {
    /// One character of these, each from the first to the last.
    One(Vec<(char, char)>),
    /// One after the other.
    Each(Vec<Pattern>),
    /// One of them.
    Any(Vec<Pattern>),
    /// So often, at least and at most.
    Many(Box<Pattern>, usize, usize),
}

impl Pattern {
    /// `None` if it says more than is understood.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut reader = Reader {
            rest: text.chars().peekable(),
            depth: 0,
        };
        let pattern = reader.any()?;
        reader.rest.next().is_none().then_some(pattern)
    }

    /// A text that matches. What may come more often does so up to `more` times more; `pick` gives
    /// a number below another.
    pub(super) fn text(&self, more: usize, pick: &mut impl FnMut(usize) -> usize) -> String {
        let (mut text, mut left) = (String::new(), MOST_STEPS);
        self.write(more, pick, &mut text, &mut left);
        text
    }

    /// Writes as long as some steps are left.
    fn write(
        &self,
        more: usize,
        pick: &mut impl FnMut(usize) -> usize,
        out: &mut String,
        left: &mut usize,
    ) {
        *left = left.saturating_sub(1);
        match self {
            Self::One(ranges) => out.extend(one_of(ranges, pick)),
            Self::Each(parts) => parts
                .iter()
                .for_each(|part| part.write(more, pick, out, left)),
            Self::Any(parts) => {
                if let Some(part) = parts.get(pick(parts.len())) {
                    part.write(more, pick, out, left);
                }
            }
            Self::Many(part, low, high) => {
                let count = low + pick(high.saturating_sub(*low).min(more) + 1);
                for _ in 0..count {
                    if *left == 0 {
                        break;
                    }
                    part.write(more, pick, out, left);
                }
            }
        }
    }
}

fn one_of(ranges: &[(char, char)], pick: &mut impl FnMut(usize) -> usize) -> Option<char> {
    let (from, to) = *ranges.get(pick(ranges.len()))?;
    let size = u32::from(to).checked_sub(u32::from(from))? + 1;
    let step = u32::try_from(pick(size as usize)).ok()?;
    char::from_u32(u32::from(from) + step)
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
}

impl Reader<'_> {
    fn takes(&mut self, character: char) -> bool {
        self.rest.next_if_eq(&character).is_some()
    }

    fn any(&mut self) -> Option<Pattern> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut parts = vec![self.each()?];
        while self.takes('|') {
            parts.push(self.each()?);
        }
        self.depth -= 1;
        match parts.len() {
            1 => parts.pop(),
            _ => Some(Pattern::Any(parts)),
        }
    }

    fn each(&mut self) -> Option<Pattern> {
        let mut parts = Vec::new();
        while let Some(next) = self.rest.next_if(|next| !matches!(next, '|' | ')')) {
            let part = match next {
                '^' | '$' => continue,
                '.' => Pattern::One(WORD.to_vec()),
                '[' => Pattern::One(self.class()?),
                '(' => self.group()?,
                '\\' => match self.rest.next()? {
                    'A' | 'z' | 'b' => continue,
                    escape => Pattern::One(escaped(escape)?),
                },
                '*' | '+' | '?' | '{' => return None,
                character => Pattern::One(vec![(character, character)]),
            };
            parts.push(self.counted(part)?);
        }
        Some(Pattern::Each(parts))
    }

    fn group(&mut self) -> Option<Pattern> {
        if self.takes('?') {
            match self.rest.next()? {
                ':' => {}
                'P' | '<' => {
                    let name = self.rest.find(|it| !matches!(it, '<'))?;
                    // `(?=`, `(?!` and those that look back are none of these.
                    if !name.is_alphabetic() || self.rest.find(|it| *it == '>').is_none() {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        let group = self.any()?;
        self.takes(')').then_some(group)
    }

    /// The part as often as is said behind it.
    fn counted(&mut self, part: Pattern) -> Option<Pattern> {
        let (low, high) = match self.rest.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                self.rest.next();
                let low = self.number()?;
                let high = match self.takes(',') {
                    false => low,
                    true if self.rest.peek() == Some(&'}') => usize::MAX,
                    true => self.number()?,
                };
                if self.rest.peek() != Some(&'}') {
                    return None;
                }
                (low, high)
            }
            _ => return Some(part),
        };
        self.rest.next();
        // Whether it takes much or little makes no other texts.
        self.takes('?');
        Some(Pattern::Many(Box::new(part), low, high))
    }

    fn number(&mut self) -> Option<usize> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits.parse().ok().filter(|number| *number <= MOST_STEPS)
    }

    /// The characters of a class, behind its opening bracket.
    fn class(&mut self) -> Option<Vec<(char, char)>> {
        let is_not = self.takes('^');
        let mut ranges = Vec::new();
        loop {
            let from = match self.rest.next()? {
                ']' if !ranges.is_empty() => break,
                '[' => return None,
                '\\' => match &*escaped(self.rest.next()?)? {
                    [(from, to)] if from == to => *from,
                    many => {
                        ranges.extend_from_slice(many);
                        continue;
                    }
                },
                character => character,
            };
            let mut ahead = self.rest.clone();
            let to = match (ahead.next(), ahead.next()) {
                (Some('-'), Some(to)) if to != ']' => {
                    self.rest.nth(1);
                    match to {
                        '\\' => self.rest.next()?,
                        to => to,
                    }
                }
                _ => from,
            };
            ranges.push((from, to));
        }
        let is_in = |it: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&it));
        match is_not {
            false => Some(ranges),
            true => {
                let others = (' '..='~').filter(|it| !is_in(*it));
                Some(others.map(|it| (it, it)).collect())
            }
        }
    }
}

/// What `\w` stands for.
const WORD: [(char, char); 4] = [('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')];

/// What a letter behind a backslash stands for.
fn escaped(letter: char) -> Option<Vec<(char, char)>> {
    Some(match letter {
        'd' => vec![('0', '9')],
        'w' => WORD.to_vec(),
        's' => vec![(' ', ' ')],
        'D' | 'S' => vec![('a', 'z')],
        'W' => vec![(' ', ' '), ('.', '.')],
        't' => vec![('\t', '\t')],
        'n' => vec![('\n', '\n')],
        'r' => vec![('\r', '\r')],
        letter if letter.is_ascii_alphanumeric() => return None,
        mark => vec![(mark, mark)],
    })
}

#[cfg(test)]
mod tests {
    use regex_lite::Regex;

    use super::*;

    #[test]
    fn what_is_written_matches() {
        for pattern in [
            r"^[a-z]{3}-\d{2,4}$",
            r"^(foo|bar)+$",
            r"\w+@\w+\.com",
            r"^#[0-9a-fA-F]{6}$",
            r"^[^a]$",
            r"^a?b*?c+$",
            r"^(?:[A-Z]{2}|(?P<n>\d+))/[\w.\-]+$",
            r"^[]x-]$",
            r"^\+?[1-9]\d{1,14}$",
            "",
        ] {
            let regex = Regex::new(pattern).unwrap();
            let read = Pattern::read(pattern).unwrap();
            for seed in 0..50 {
                let mut step: usize = seed;
                let text = read.text(3, &mut |count| {
                    step = (step * 31 + 7) % 1_009;
                    step % count.max(1)
                });
                assert!(regex.is_match(&text), "`{pattern}` does not match `{text}`");
            }
        }
    }

    #[test]
    fn what_is_not_understood_makes_none() {
        for pattern in [
            r"(?=a)",
            r"(?i)a",
            r"\p{Lu}",
            "*",
            "a{99999}",
            "(",
            "[a",
            r"[[:alpha:]]",
        ] {
            assert!(Pattern::read(pattern).is_none(), "{pattern}");
        }
        assert!(Pattern::read(&"(".repeat(100_000)).is_none());
    }
}
