//! The frame of a client's program: says which checks are asked for and prints what they say.

use std::env;

/// Prints the lines of one check.
pub struct Say(pub &'static str);

impl Say {
    pub fn line(&self, detail: impl AsRef<str>) {
        let text = detail.as_ref().replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r");
        println!("{}\t{}", self.0, text);
    }
}

/// A setting of the environment, empty where it is not set.
pub fn setting(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Reports whether a check is asked for.
pub fn wanted(check: &str) -> bool {
    let list = setting("SLUICE_INTEROP_CHECKS");
    list.is_empty() || list.split(',').any(|c| c == check)
}

/// A table of the schema that is tested.
pub fn table(name: &str) -> String {
    format!("{}.{}", setting("SLUICE_INTEROP_SCHEMA"), name)
}

/// Takes what the schemas are called out of a text.
pub fn anonymous(text: &str) -> String {
    text.replace(&(setting("SLUICE_INTEROP_SCHEMA") + "."), "").replace(&(setting("SLUICE_INTEROP_SCRATCH") + "."), "")
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Statements that fail, each in its own way.
pub fn failing() -> Vec<String> {
    let (item, sink, scratch) = (table("item"), table("sink"), setting("SLUICE_INTEROP_SCRATCH"));
    vec![
        "SELEC 1".into(),
        format!("SELECT * FROM {scratch}.missing"),
        format!("SELECT missing FROM {item}"),
        format!("SELECT id / 0 FROM {item}"),
        format!("SELECT name::int FROM {item} WHERE id = 5"),
        format!("SELECT sum(name) FROM {item}"),
        format!("INSERT INTO {item} (id) VALUES (NULL)"),
        format!("INSERT INTO {sink} (id, qty) VALUES (1, 40000)"),
        format!("SELECT * FROM {item} WHERE uid = 'x'"),
        format!("SELECT * FROM {item} LIMIT -1"),
    ]
}

/// A statement that no engine ends within a minute.
pub fn endless() -> String {
    let s = table("series");
    format!("SELECT count(*) FROM {s} a, {s} b, {s} c WHERE (a.n + b.n + c.n) % 11 = 3")
}
