//! How an example ends: quietly, or with one line on stderr.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// The exit code of a program, after telling its error on stderr.
pub fn exit_code(result: Result<(), Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if stderr is closed too.
            let _ = writeln!(io::stderr(), "error: {}", one_line(&*error));
            ExitCode::FAILURE
        }
    }
}

/// An error and its causes on one line. A cause that the text before it already tells is left out.
#[must_use]
pub fn one_line(error: &(dyn Error + 'static)) -> String {
    let mut line = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        if !line.contains(&text) {
            if !line.is_empty() {
                line.push_str(": ");
            }
            line.push_str(&text);
        }
        next = error.source();
    }
    line
}

/// True if whoever read our output went away, as `head` does.
fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt;

    #[derive(Debug)]
    struct Failed(&'static str, Option<Box<Failed>>);

    impl fmt::Display for Failed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Failed {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|source| source as _)
        }
    }

    #[test]
    fn an_error_and_its_causes_stand_on_one_line() {
        let cause = Failed("connection refused\n(os error 111)", None);
        let error = Failed("the model gave no reply", Some(Box::new(cause)));

        assert_eq!(
            one_line(&error),
            "the model gave no reply: connection refused (os error 111)"
        );
    }

    #[test]
    fn a_cause_that_was_told_is_not_told_again() {
        let cause = Failed("not found", None);
        let error = Failed("the server said: not found", Some(Box::new(cause)));

        assert_eq!(one_line(&error), "the server said: not found");
    }
}
