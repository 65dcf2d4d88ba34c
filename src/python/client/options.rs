//! Options of a client as Python gives them and as a pickle carries them.

use std::path::PathBuf;

use secrecy::{ExposeSecret as _, SecretString};

use crate::config::url::BaseUrl;
use crate::config::{
    self, ApiKey, ENV_API_KEY, ENV_API_KEY_FILE, Options, Renewal, for_each_option,
};
use crate::http::proxy;
use crate::python::client::handle::{Handle, read_aside, resolve};
use crate::python::client::hooks::Hooks;
use crate::python::listing::collect;
use crate::python::prelude::*;

/// A type of option: how Python gives it, and how it goes back into a pickle.
trait OptionValue: Sized {
    fn read(name: &str, value: &Object<'_>) -> PyResult<Self>;
    fn write<'py>(&self, py: Python<'py>) -> PyResult<Object<'py>>;
}

macro_rules! setting {
    ($($type:ty: $read:expr, |$option:ident| $write:expr;)*) => {
        $(impl OptionValue for $type {
            fn read(name: &str, value: &Object<'_>) -> PyResult<Self> {
                let read: fn(&str, &Object<'_>) -> PyResult<Self> = $read;
                read(name, value)
            }

            fn write<'py>(&self, py: Python<'py>) -> PyResult<Object<'py>> {
                let $option = self;
                $write.into_bound_py_any(py)
            }
        })*
    };
}

setting! {
    f64: convert::seconds, |seconds| seconds;
    u32: convert::count, |number| number;
    u64: convert::count, |number| number;
    String: convert::text, |text| text;
    SecretString: |name, value| convert::text(name, value).map(Self::from), |secret| secret.expose_secret();
    bool: convert::flag, |flag| flag;
    // As text: `Path("")` is the working directory.
    PathBuf: collect::path_of, |path| path.as_os_str();
    // A client with headers is not pickled.
    Vec<(String, SecretString)>: |name, value| {
        Ok(convert::optional(name, value, convert::pairs)?.unwrap_or_default().into_iter().map(|(name, value)| (name, value.into())).collect())
    }, |_headers| None::<bool>;
}

impl<T: OptionValue> OptionValue for Option<T> {
    fn read(name: &str, value: &Object<'_>) -> PyResult<Self> {
        convert::optional(name, value, T::read)
    }

    fn write<'py>(&self, py: Python<'py>) -> PyResult<Object<'py>> {
        self.as_ref()
            .map_or_else(|| Ok(py.None().into_bound(py)), |value| value.write(py))
    }
}

macro_rules! python_options {
    ($($(#[$doc:meta])* $option:ident: $type:ty = $default:expr;)*) => {
        /// Sets one option. An unknown name is a `TypeError`, as for any Python function.
        pub fn set(
            options: &mut Options,
            hooks: &mut Hooks,
            name: &str,
            value: &Object<'_>,
        ) -> PyResult<()> {
            let mut variable = None;
            match name {
                "api_key" if hooks.take_key(options, value) => options.api_key = None,
                "api_key" if value.is_instance_of::<CheckedKey>() => {
                    let CheckedKey(key, renewal, source) = value.cast::<CheckedKey>()?.get();
                    (options.api_key, options.renewal) = (Some(key.clone()), renewal.clone());
                    variable = *source;
                }
                "on_attempt" => hooks.on_attempt = convert::on_attempt(value)?,
                $(stringify!($option) => options.$option = OptionValue::read(name, value)?,)*
                _ => {
                    let known = vec!["api_key", "on_attempt", $(stringify!($option)),*];
                    let meant = match name {
                        "on_budget" => ": give it to each call".to_owned(),
                        _ => convert::nearest(value.py(), name, known)?,
                    };
                    return Err(PyTypeError::new_err(format!("{name:?} is not a setting of a docplatform client{meant}")));
                }
            }
            options.from_env.retain(|(from_env, _)| *from_env != name);
            options.from_env.extend(variable.map(|variable| (Setting::ApiKey.as_str(), variable)));
            Ok(())
        }

        /// The options of a pickle: all but the key and the headers, also those from the
        /// environment.
        pub fn to_dict<'py>(py: Python<'py>, options: &Options) -> PyResult<Bound<'py, PyDict>> {
            let dict = PyDict::new(py);
            $(if !matches!(stringify!($option), "api_key" | "headers") {
                dict.set_item(stringify!($option), options.$option.write(py)?)?;
            })*
            Ok(dict)
        }
    };
}
for_each_option!(python_options);

pub fn update(
    options: &mut Options,
    hooks: &mut Hooks,
    changes: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    for (name, value) in changes.into_iter().flat_map(PyDictMethods::iter) {
        set(options, hooks, name.extract()?, &value)?;
    }
    Ok(())
}

/// A checked API key, the way to a newer one, and the variable that it or its file is from.
/// `Client` takes it as `api_key=`. Python does not see the key.
#[pyclass(frozen, name = "_Key", module = "docplatform._native")]
pub struct CheckedKey(SecretString, Renewal, Option<&'static str>);

/// The checked API key of `file`, or otherwise of the environment, and its source. The command line
/// checks it before it begins. `None` if there is none.
#[pyfunction]
#[pyo3(signature = (file = None))]
pub fn _api_key(py: Python<'_>, file: Option<PathBuf>) -> PyResult<Option<(String, CheckedKey)>> {
    let (from, key, renewal, variable) = if let Some(file) = file {
        let from = file.to_string_lossy().into_owned();
        let renewal = Renewal::File(file.clone());
        let key = read_aside(py, move || ApiKey::read_file(Setting::ApiKey, &file))?;
        (from, Some(key), renewal, None)
    } else {
        // Other variables do not concern the key.
        let of_key = |name: &str| matches!(name, ENV_API_KEY | ENV_API_KEY_FILE);
        let options = resolve(py, Options::default(), of_key)?;
        let variable = options.variable_of(Setting::ApiKey);
        let from = variable.unwrap_or_default().to_owned();
        (from, options.api_key, options.renewal, variable)
    };
    let Some(key) = key else { return Ok(None) };
    ApiKey::parse(format!("the API key in {from}"), &key)?;
    Ok(Some((from, CheckedKey(key, renewal, variable))))
}

/// Checks these settings without the environment's, for the command line's `doctor`. With `opens`,
/// it also opens the store, and reads what connections need.
#[pyfunction]
#[pyo3(signature = (settings, *, opens))]
pub fn _check(py: Python<'_>, settings: &Bound<'_, PyDict>, opens: bool) -> PyResult<()> {
    let mut options = Options::default();
    let mut hooks = Hooks::default();
    update(&mut options, &mut hooks, Some(settings))?;
    let options = options.resolve(|_| None)?;
    match opens {
        true => Handle::new(py, options, hooks).map(drop),
        false => Ok(options.check().map(drop)?),
    }
}

/// Whether the name of a missing file may be the API key itself.
#[pyfunction]
pub fn _is_like_a_key(file: PathBuf) -> bool {
    config::is_like_a_key(&file)
}

/// Host and port of the environment's proxy that requests to this address go through: for the
/// command line's `doctor`.
#[pyfunction]
pub fn _proxy(base_url: &str) -> PyResult<Option<String>> {
    let base_url = BaseUrl::parse(Setting::BaseUrl, base_url, true)?;
    Ok(proxy::of_environment(&base_url)?.map(|proxy| proxy.address))
}
