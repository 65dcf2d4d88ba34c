//! Writes each docstring of `_native.pyi` into a file of its own, and with the signature into another, which `doc!` and
//! `signed!` in `src/python/mod.rs` include: the stub is the one source of what `help()`, editors and the reference show.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

const STUB: &str = "python/docplatform/_native.pyi";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_PYTHON").is_none() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed={STUB}");
    let folder =
        PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?).join("docstrings");
    if folder.exists() {
        // A docstring that is gone must not be found.
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    write_docstrings(&fs::read_to_string(STUB)?, &folder)
}

/// Writes `Class` and `Class.member` files. Of overloads and of a property's parts, the one that has a docstring counts.
fn write_docstrings(stub: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut parts = stub.split("\"\"\"");
    let mut class = "";
    while let (Some(code), Some(docstring)) = (parts.next(), parts.next()) {
        // The `__new__` of a class follows the docstring of the class.
        if let Some((before, new)) = code.split_once("    def __new__(")
            && !before.contains("class ")
        {
            let signature = text_signature(&format!("{class}({new}")).replacen("$cls, ", "", 1);
            let docstring = fs::read_to_string(folder.join(class))?;
            fs::write(
                folder.join(format!("{class}()")),
                format!("{signature}\n--\n\n{docstring}"),
            )?;
        }
        let (mut member, mut signature) = (None, None);
        for line in code.lines() {
            if let Some(name) = line.strip_prefix("class ") {
                class = identifier(name);
                (member, signature) = (Some(class.to_owned()), None);
            } else if let Some(name) = line.strip_prefix("    def ") {
                member = Some(format!("{class}.{}", identifier(name)));
                signature = code
                    .rsplit_once("    def ")
                    .map(|(_, method)| text_signature(method));
            } else if line.starts_with("def ") {
                member = None;
            }
        }
        if let Some(member) = member {
            if docstring.contains('\\') {
                return Err(format!(
                    "{STUB}: the docstring of {member} has a backslash, which Python would read as an escape"
                )
                .into());
            }
            let docstring = dedent(docstring);
            if let Some(signature) = signature {
                // As CPython looks for it.
                fs::write(
                    folder.join(format!("{member}()")),
                    format!("{signature}\n--\n\n{docstring}"),
                )?;
            }
            fs::write(folder.join(member), docstring)?;
        }
    }
    Ok(())
}

fn identifier(text: &str) -> &str {
    text.split(|letter: char| letter != '_' && !letter.is_alphanumeric())
        .next()
        .unwrap_or_default()
}

/// The signature of `name(self, argument: Type = default) -> Type: ...`, without its types.
fn text_signature(method: &str) -> String {
    let (name, rest) = method.split_once('(').unwrap_or((method, ""));
    let (mut depth, mut is_type, mut arguments) = (0_u32, false, vec![String::new()]);
    for letter in rest.chars().filter(|letter| !letter.is_whitespace()) {
        match letter {
            ')' if depth == 0 => break,
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ':' if depth == 0 => is_type = true,
            '=' if depth == 0 => is_type = false,
            ',' if depth == 0 => {
                is_type = false;
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(argument) = arguments.last_mut().filter(|_| !is_type) {
            argument.push(letter);
        }
    }
    let arguments: Vec<_> = arguments
        .iter()
        .filter(|argument| !argument.is_empty())
        .map(String::as_str)
        .collect();
    format!("{name}(${})", arguments.join(", "))
}

/// As `inspect.cleandoc` does it.
fn dedent(docstring: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let margin = docstring
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(indent)
        .min()
        .unwrap_or(0);
    let lines: Vec<_> = docstring
        .lines()
        .enumerate()
        .map(|(at, line)| {
            if at == 0 {
                line.trim()
            } else {
                line.get(margin..).unwrap_or_default()
            }
        })
        .collect();
    lines.join("\n").trim_end().to_owned()
}
