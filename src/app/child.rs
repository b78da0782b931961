//! Programs that this one starts: they get its environment without the variables that hold secrets.

use std::process::Command;

/// A program to be started; `withheld` are the variables that it does not get.
pub(super) fn command(program: &str, withheld: &[String]) -> Command {
    let mut command = Command::new(program);
    for variable in withheld {
        command.env_remove(variable);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_with_a_secret_is_not_handed_on() {
        let command = command("true", &["MY_TOKEN".to_owned()]);
        let changed: Vec<_> = command.get_envs().collect();
        assert_eq!(changed, [("MY_TOKEN".as_ref(), None)]);
    }
}
