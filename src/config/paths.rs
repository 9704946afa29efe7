//! Where Trefoil keeps its files. `TREFOIL_HOME` moves all of them; else the XDG folders hold them.

use std::path::PathBuf;

use super::Environment;

/// Our own folders. None needs to exist yet, and none may be writable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    pub config_file: PathBuf,
    pub themes: PathBuf,
    pub sessions: PathBuf,
    /// Log, history.
    pub state: PathBuf,
}

impl Paths {
    /// Places the folders; `None` where the environment names no home for them.
    pub fn from(environment: &Environment) -> Option<Self> {
        let absolute =
            |name: &str| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        // A relative one counts from here: ignoring it would write where nobody wants us to.
        let named = environment.get("TREFOIL_HOME").map(std::path::absolute);
        if let Some(Ok(home)) = named {
            return Some(Self::in_folders(home.clone(), home.clone(), home.join("state")));
        }
        let home = absolute("HOME");
        let folder = |xdg: &str, usual: &str| {
            let parent = absolute(xdg).or_else(|| home.as_ref().map(|home| home.join(usual)));
            parent.map(|parent| parent.join("trefoil"))
        };
        Some(Self::in_folders(
            folder("XDG_CONFIG_HOME", ".config")?,
            folder("XDG_DATA_HOME", ".local/share")?,
            folder("XDG_STATE_HOME", ".local/state")?,
        ))
    }

    fn in_folders(config: PathBuf, data: PathBuf, state: PathBuf) -> Self {
        Self {
            config_file: config.join("config.toml"),
            themes: config.join("themes"),
            sessions: data.join("sessions"),
            state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_variable_moves_everything() {
        let environment = Environment::from([("TREFOIL_HOME", "/t"), ("HOME", "/home/a")]);
        let paths = Paths::from(&environment).unwrap();
        assert_eq!(paths.config_file, PathBuf::from("/t/config.toml"));
        assert_eq!(paths.sessions, PathBuf::from("/t/sessions"));
        assert_eq!(paths.state, PathBuf::from("/t/state"));
    }

    #[test]
    fn a_relative_home_of_ours_counts_from_the_current_folder() {
        let environment = Environment::from([("TREFOIL_HOME", "t"), ("HOME", "/home/a")]);
        let here = std::env::current_dir().unwrap();
        assert_eq!(Paths::from(&environment).unwrap().state, here.join("t/state"));
    }

    #[test]
    fn absolute_xdg_folders_count_and_relative_or_empty_ones_do_not() {
        for (value, config) in [
            ("/x", "/x/trefoil/config.toml"),
            ("x", "/home/a/.config/trefoil/config.toml"),
            ("", "/home/a/.config/trefoil/config.toml"),
        ] {
            let environment = Environment::from([("HOME", "/home/a"), ("XDG_CONFIG_HOME", value)]);
            assert_eq!(Paths::from(&environment).unwrap().config_file, PathBuf::from(config));
        }
    }

    #[test]
    fn without_a_home_there_are_no_folders() {
        assert_eq!(Paths::from(&Environment::default()), None);
        assert_eq!(Paths::from(&Environment::from([("HOME", "relative")])), None);
    }
}
