//! The endpoints of listings as data: path, items, paging, limits, columns. Those of jobs are in
//! `job/mod.rs`, `client/call.rs` and `config/options.rs`.

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    Integer,
    Float,
    Bool,
    /// An instant, kept in microseconds since 1970.
    Time,
    /// Arrays and objects, kept as JSON.
    Json,
}

/// A field that every row of an endpoint has a column for.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, as the service has it.
    pub name: &'static str,
    pub kind: ColumnKind,
    /// Whether a row without it is unreadable. Values of an optional field that do not fit are kept
    /// apart.
    pub required: bool,
}

/// How an endpoint is read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagedBy {
    /// Rows are skipped by their number.
    Offset,
    /// Each page names the next one.
    Cursor,
    /// There is only one page, which may be cut off.
    Nothing,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The name of the client's method, of the dataset's partition and of the command.
    /// `feedback_by_page` has no command, but an option of `feedback`.
    pub name: &'static str,
    pub path: &'static str,
    /// The name of its rows in an answer.
    pub items: &'static str,
    pub paged_by: PagedBy,
    /// The name of the flag for more rows; `None` if a cursor says it.
    pub has_more: Option<&'static str>,
    /// The largest page that the service grants; of an endpoint that is not known, the largest that
    /// may be asked for.
    pub max_page_size: u32,
    /// The columns of its table.
    pub fields: &'static [Field],
    /// The field that tells its rows apart; `None`: two equal rows may both be right.
    pub key: Option<&'static str>,
    /// The field with the URL of a page, if it has one. The path of the URL is the last column,
    /// `path`: listings are joined by it.
    pub page: Option<&'static str>,
    /// The field that says when a row happened; `None`: a row sums up its whole range.
    pub time: Option<&'static str>,
    /// Whether an answer has totals of the whole range.
    pub totals: bool,
    /// Whether what it counts adds up over days and rows.
    pub adds_up: bool,
    /// The query parameters besides the dates that choose rows.
    pub filters: &'static [&'static str],
}

/// The place of a field by its name.
pub(crate) fn position(fields: &[Field], name: &str) -> Option<usize> {
    fields.iter().position(|field| field.name == name)
}

/// Fields by their kinds and names. A row may lack a field that is not `required`.
macro_rules! fields {
    ($($kind:ident $name:literal $($required:ident)?),* $(,)?) => {
        &[$($crate::listing::endpoint::Field {
            name: $name,
            kind: $crate::listing::endpoint::ColumnKind::$kind,
            required: false $(|| stringify!($required).len() > 0)?,
        }),*]
    };
}
pub(crate) use fields;

/// The counts of a site, without a path.
pub const COUNTS: &[Field] =
    fields![Integer "human" required, Integer "ai" required, Integer "total" required];

const COUNTS_BY_PATH: &[Field] = fields![
    Text "path" required,
    Integer "human" required,
    Integer "ai" required,
    Integer "total" required
];

/// A listing whose rows have a path and counts, under its own name.
const fn by_path(name: &'static str, path: &'static str) -> Endpoint {
    Endpoint {
        name,
        path,
        items: name,
        paged_by: PagedBy::Offset,
        has_more: Some("hasMore"),
        max_page_size: 250,
        fields: COUNTS_BY_PATH,
        key: Some("path"),
        page: None,
        time: None,
        totals: true,
        adds_up: true,
        filters: &[],
    }
}

/// A listing whose pages name the next one.
const fn by_cursor(name: &'static str, path: &'static str) -> Endpoint {
    Endpoint {
        paged_by: PagedBy::Cursor,
        max_page_size: 100,
        fields: &[],
        totals: false,
        ..by_path(name, path)
    }
}

/// Unique visitors.
pub const VISITORS: &Endpoint = &Endpoint {
    adds_up: false,
    ..by_path("visitors", "/v1/analytics/{project_id}/visitors")
};

/// Page views.
pub const VIEWS: &Endpoint = &by_path("views", "/v1/analytics/{project_id}/views");

/// The searches of readers.
pub const SEARCHES: &Endpoint = &Endpoint {
    has_more: None,
    key: Some("searchQuery"),
    page: Some("topClickedPage"),
    fields: fields![
        Text "searchQuery",
        Integer "hits",
        Float "ctr",
        Text "topClickedPage",
        Time "lastSearchedAt",
        Text "path"
    ],
    ..by_cursor("searches", "/v1/analytics/{project_id}/searches")
};

/// The feedback of readers.
pub const FEEDBACK: &Endpoint = &Endpoint {
    key: Some("id"),
    time: Some("createdAt"),
    filters: &["source", "status"],
    fields: fields![Text "id", Text "path", Text "source", Text "status", Text "comment", Time "createdAt"],
    ..by_cursor("feedback", "/v1/analytics/{project_id}/feedback")
};

/// The questions of readers to the assistant: one row a turn.
pub const CONVERSATIONS: &Endpoint = &Endpoint {
    max_page_size: 1000,
    key: Some("id"),
    page: Some("pageUrl"),
    time: Some("timestamp"),
    fields: fields![
        Text "id",
        Time "timestamp",
        Text "query",
        Text "response",
        Text "responseType",
        Json "sources",
        Text "resolutionStatus",
        Text "queryCategory",
        Text "pageUrl",
        Text "path"
    ],
    ..by_cursor("conversations", "/v1/analytics/{project_id}/assistant")
};

/// Feedback by page, which the service cuts off.
pub const FEEDBACK_BY_PAGE: &Endpoint = &Endpoint {
    items: "feedback",
    paged_by: PagedBy::Nothing,
    filters: &["source", "status"],
    fields: fields![Text "path", Integer "thumbsUp", Integer "thumbsDown", Integer "code", Integer "total"],
    ..by_cursor(
        "feedback_by_page",
        "/v1/analytics/{project_id}/feedback/by-page",
    )
};

/// One conversation with the assistant: one object.
pub const THREAD: &str = "/v1/analytics/{project_id}/assistant/threads/{id}";

/// The callers of the assistant: one object.
pub const CALLER_STATS: &str = "/v1/analytics/{project_id}/assistant/caller-stats";

/// Passes the list of all endpoints, each with the name of the client's method that lists it, to
/// the macro `$with`.
macro_rules! for_each_endpoint {
    ($with:ident) => {
        $with! {
            visitors: VISITORS;
            views: VIEWS;
            searches: SEARCHES;
            feedback: FEEDBACK;
            conversations: CONVERSATIONS;
            feedback_by_page: FEEDBACK_BY_PAGE;
        }
    };
}
#[cfg(feature = "python")]
pub(crate) use for_each_endpoint;

macro_rules! all {
    ($($method:ident: $endpoint:ident;)*) => {
        pub const ENDPOINTS: &[&Endpoint] = &[$($endpoint),*];
    };
}
for_each_endpoint!(all);

/// The listing of any other path, with rows of unknown fields.
pub(super) const OTHER: &Endpoint = &Endpoint {
    name: "rows",
    path: "",
    items: "",
    max_page_size: 1000,
    fields: &[],
    key: None,
    totals: false,
    ..*VISITORS
};

impl Endpoint {
    /// The fields that the service sends.
    pub fn sent(&self) -> &'static [Field] {
        match (self.page, self.fields) {
            (Some(_), [sent @ .., _path]) => sent,
            (_, fields) => fields,
        }
    }

    pub fn at(path: &str) -> Option<&'static Self> {
        Self::find(|endpoint| endpoint.path == path)
    }

    pub fn named(name: &str) -> Option<&'static Self> {
        Self::find(|endpoint| endpoint.name == name)
    }

    fn find(is_it: impl Fn(&Self) -> bool) -> Option<&'static Self> {
        ENDPOINTS.iter().copied().find(|endpoint| is_it(endpoint))
    }
}
