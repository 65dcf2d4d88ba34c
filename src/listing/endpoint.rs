//! What the service lists: each endpoint as data, and nothing about it anywhere else.

/// What a field of a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// True or false.
    Flag,
    /// An instant, kept in microseconds since 1970.
    Time,
    /// Whatever is deeper, kept as JSON.
    Json,
}

/// A field that every row of an endpoint has a column for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name, as the service has it.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
    /// Whether a row without it is unreadable. Where it is not, anything that does not fit is kept aside.
    pub required: bool,
}

/// How an endpoint is read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagedBy {
    /// Rows are skipped by their number.
    Offset,
    /// Each page names the next one.
    Cursor,
    /// There is one page. What it leaves out is cut off.
    Nothing,
}

/// An endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// Its name: that of the client's method, of the command, and of the dataset's partition.
    pub name: &'static str,
    /// Where it is read.
    pub path: &'static str,
    /// The name of its rows in an answer.
    pub items: &'static str,
    /// How it is paged.
    pub paged_by: PagedBy,
    /// The name of the flag that says that there is more; `None`: a cursor says it.
    pub has_more: Option<&'static str>,
    /// The largest page that the service grants.
    pub max_page_size: u32,
    /// The columns of its table.
    pub fields: &'static [Field],
    /// The field that tells its rows apart; `None`: a row may rightly come twice.
    pub key: Option<&'static str>,
    /// The field that says when a row happened; `None`: a row sums up its whole range.
    pub time: Option<&'static str>,
    /// Whether an answer has totals of the whole range.
    pub totals: bool,
    /// Whether what it counts adds up over days and rows.
    pub adds_up: bool,
    /// The query parameters besides the dates that choose rows.
    pub filters: &'static [&'static str],
}

const fn required(name: &'static str, holds: Holds) -> Field {
    Field { name, holds, required: true }
}

const fn field(name: &'static str, holds: Holds) -> Field {
    Field { name, holds, required: false }
}

/// The counts of a site, without a path.
pub const COUNTS: &[Field] =
    &[required("human", Holds::Integer), required("ai", Holds::Integer), required("total", Holds::Integer)];

/// Unique visitors.
pub const VISITORS: &Endpoint = &Endpoint {
    name: "visitors",
    path: "/v1/analytics/{project_id}/visitors",
    items: "visitors",
    paged_by: PagedBy::Offset,
    has_more: Some("hasMore"),
    max_page_size: 250,
    fields: &[
        required("path", Holds::Text),
        required("human", Holds::Integer),
        required("ai", Holds::Integer),
        required("total", Holds::Integer),
    ],
    key: Some("path"),
    time: None,
    totals: true,
    adds_up: false,
    filters: &[],
};

/// Page views.
pub const VIEWS: &Endpoint = &Endpoint {
    name: "views",
    path: "/v1/analytics/{project_id}/views",
    items: "views",
    adds_up: true,
    ..*VISITORS
};

/// What readers searched for.
pub const SEARCHES: &Endpoint = &Endpoint {
    name: "searches",
    path: "/v1/analytics/{project_id}/searches",
    items: "searches",
    paged_by: PagedBy::Cursor,
    has_more: None,
    max_page_size: 100,
    fields: &[
        field("searchQuery", Holds::Text),
        field("hits", Holds::Integer),
        field("ctr", Holds::Float),
        field("topClickedPage", Holds::Text),
        field("lastSearchedAt", Holds::Time),
    ],
    key: Some("searchQuery"),
    totals: false,
    adds_up: true,
    ..*VISITORS
};

/// What readers said.
pub const FEEDBACK: &Endpoint = &Endpoint {
    name: "feedback",
    path: "/v1/analytics/{project_id}/feedback",
    items: "feedback",
    has_more: Some("hasMore"),
    fields: &[
        field("id", Holds::Text),
        field("path", Holds::Text),
        field("source", Holds::Text),
        field("status", Holds::Text),
        field("comment", Holds::Text),
        field("createdAt", Holds::Time),
    ],
    key: Some("id"),
    time: Some("createdAt"),
    filters: &["source", "status"],
    ..*SEARCHES
};

/// What readers asked the assistant: one row a turn.
pub const CONVERSATIONS: &Endpoint = &Endpoint {
    name: "conversations",
    path: "/v1/analytics/{project_id}/assistant",
    items: "conversations",
    max_page_size: 1000,
    fields: &[
        field("id", Holds::Text),
        field("timestamp", Holds::Time),
        field("query", Holds::Text),
        field("response", Holds::Text),
        field("responseType", Holds::Text),
        field("sources", Holds::Json),
        field("resolutionStatus", Holds::Text),
        field("queryCategory", Holds::Text),
        field("pageUrl", Holds::Text),
    ],
    time: Some("timestamp"),
    filters: &[],
    ..*FEEDBACK
};

/// Feedback by page, which the service cuts off.
pub const FEEDBACK_BY_PAGE: &Endpoint = &Endpoint {
    name: "feedback_by_page",
    path: "/v1/analytics/{project_id}/feedback/by-page",
    paged_by: PagedBy::Nothing,
    fields: &[
        field("path", Holds::Text),
        field("thumbsUp", Holds::Integer),
        field("thumbsDown", Holds::Integer),
        field("code", Holds::Integer),
        field("total", Holds::Integer),
    ],
    key: Some("path"),
    time: None,
    ..*FEEDBACK
};

/// One conversation with the assistant: one object.
pub const THREAD: &str = "/v1/analytics/{project_id}/assistant/threads/{id}";

/// Who called the assistant: one object.
pub const CALLER_STATS: &str = "/v1/analytics/{project_id}/assistant/caller-stats";

/// All of them.
pub const ENDPOINTS: [&Endpoint; 6] = [VISITORS, VIEWS, SEARCHES, FEEDBACK, CONVERSATIONS, FEEDBACK_BY_PAGE];

/// Whatever else a path may list: nothing is known of its rows.
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
    /// The one that is read at `path`.
    pub fn at(path: &str) -> Option<&'static Self> {
        ENDPOINTS.into_iter().find(|endpoint| endpoint.path == path)
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ENDPOINTS.into_iter().find(|endpoint| endpoint.name == name)
    }
}
