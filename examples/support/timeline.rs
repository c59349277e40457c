//! Tool calls as bars on one time axis.

use std::time::Duration;

/// A time during which something ran, counted from the start of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// What ran.
    pub name: String,
    /// When it began.
    pub start: Duration,
    /// When it ended.
    pub end: Duration,
}

/// The bars below each other, then the axis. Time 0 is the first bar's start.
///
/// `width` is the number of columns of the longest possible bar. `paint` may put colour
/// around a bar; it is given the bar's position and its text.
#[must_use]
pub fn render(bars: &[Bar], width: usize, paint: impl Fn(usize, &str) -> String) -> String {
    let Some(zero) = bars.iter().map(|bar| bar.start).min() else {
        return String::new();
    };
    let seconds = |time: Duration| time.saturating_sub(zero).as_secs_f64();
    let last = bars.iter().map(|bar| seconds(bar.end)).fold(0.0, f64::max);
    let step = step(last);
    // A little room, so that an end just past a tick does not cost a whole further step.
    let ticks = (last / step - 0.1).ceil().max(1.0);
    let scale = width as f64 / last.max(ticks * step);
    let column = |time: f64| (time * scale).round() as usize;
    let indent = name_width(bars);

    let mut lines = Vec::new();
    for (position, bar) in bars.iter().enumerate() {
        let from = column(seconds(bar.start)).min(width.saturating_sub(1));
        let to = column(seconds(bar.end)).clamp(from + 1, width.max(from + 1));
        let block = paint(position, &"█".repeat(to - from));
        let length = seconds(bar.end) - seconds(bar.start);
        lines.push(format!(
            "{name:<indent$}  {before}{block}{after}  {length:.1} s",
            name = bar.name,
            before = " ".repeat(from),
            after = " ".repeat(width.saturating_sub(to)),
        ));
    }

    let mut axis = String::new();
    let mut labels = String::new();
    for tick in 0..=(ticks as usize) {
        let time = tick as f64 * step;
        let at = column(time);
        let label = label(time, step);
        // Where the picture is too narrow for a tick and its label, it has neither.
        if tick > 0 && at <= labels.chars().count() {
            continue;
        }
        axis.push_str(&"─".repeat(at - axis.chars().count()));
        axis.push(if tick == 0 { '└' } else { '┴' });
        labels.push_str(&" ".repeat(at - labels.chars().count()));
        labels.push_str(&label);
    }
    lines.push(format!("{:indent$}  {axis}", ""));
    lines.push(format!("{:indent$}  {labels} s", ""));
    lines.join("\n")
}

fn name_width(bars: &[Bar]) -> usize {
    let widths = bars.iter().map(|bar| bar.name.chars().count());
    widths.max().unwrap_or(0)
}

/// The distance of two ticks: a round number, at most five of them.
fn step(seconds: f64) -> f64 {
    let mut step = 0.1;
    loop {
        for factor in [1.0, 2.0, 5.0] {
            if seconds / (step * factor) <= 5.0 {
                return step * factor;
            }
        }
        step *= 10.0;
    }
}

fn label(time: f64, step: f64) -> String {
    if step < 1.0 {
        format!("{time:.1}")
    } else {
        format!("{time:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, start: u64, end: u64) -> Bar {
        Bar {
            name: name.to_owned(),
            start: Duration::from_millis(start),
            end: Duration::from_millis(end),
        }
    }

    fn plain(bars: &[Bar]) -> Vec<String> {
        let text = render(bars, 30, |_, bar| bar.to_owned());
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn calls_at_once_stand_side_by_side() {
        let bars = [
            bar("weather", 400, 2400),
            bar("stock", 401, 2901),
            bar("news", 402, 3404),
        ];

        assert_eq!(
            plain(&bars),
            [
                "weather  ████████████████████            2.0 s",
                "stock    █████████████████████████       2.5 s",
                "news     ██████████████████████████████  3.0 s",
                "         └─────────┴─────────┴─────────┴",
                "         0         1         2         3 s",
            ]
        );
    }

    #[test]
    fn calls_one_after_another_make_stairs() {
        let bars = [
            bar("weather", 0, 2000),
            bar("stock", 2000, 4500),
            bar("news", 4500, 7500),
        ];

        assert_eq!(
            plain(&bars),
            [
                "weather  ████████                        2.0 s",
                "stock            █████████               2.5 s",
                "news                      ███████████    3.0 s",
                "         └───────┴──────┴───────┴──────┴",
                "         0       2      4       6      8 s",
            ]
        );
    }

    #[test]
    fn a_call_that_took_no_time_is_still_seen() {
        let bars = [bar("now", 0, 0), bar("slow", 0, 1000)];

        let lines = plain(&bars);

        assert!(lines[0].starts_with("now   █ "), "{}", lines[0]);
        assert!(lines[0].ends_with("0.0 s"), "{}", lines[0]);
    }

    #[test]
    fn a_bar_at_the_very_end_keeps_one_column() {
        let lines = plain(&[bar("first", 0, 1000), bar("last", 1000, 1000)]);

        assert_eq!(lines[1].matches('█').count(), 1);
        assert_eq!(lines[0].chars().count(), lines[1].chars().count());
    }

    #[test]
    fn without_a_call_there_is_nothing_to_draw() {
        assert_eq!(render(&[], 30, |_, bar| bar.to_owned()), "");
    }

    #[test]
    fn colour_goes_around_the_bar_alone() {
        let text = render(&[bar("a", 0, 1000)], 4, |position, bar| {
            format!("<{position}>{bar}</>")
        });

        assert_eq!(text.lines().next(), Some("a  <0>████</>  1.0 s"));
    }
}
