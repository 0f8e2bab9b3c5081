//! Collects endpoints: as the router that answers requests, or with the description of the API.
//!
//! What `#[utoipa::path]` and `ToSchema` generate is more than a megabyte of machine code, and only tests, which write
//! `schemas/openapi.json`, need it. The router of `utoipa-axum` builds the description together with the routes, so
//! that the linker would have to keep all of it in the program.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};
use utoipa_axum::PathItemExt;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::app::App;

/// What endpoints are collected in.
pub trait ApiRoutes: Sized {
    fn new() -> Self;

    /// Adds what `routes!` wrote down.
    fn routes<D, S>(self, endpoints: EndpointGroup<D, S>) -> Self
    where
        D: FnOnce() -> UtoipaMethodRouter<App>,
        S: FnOnce(Router<App>) -> Router<App>;

    fn merge(self, other: Self) -> Self;

    fn nest(self, path: &str, inner: Self) -> Self;
}

/// Endpoints in two forms, of which a collection uses one.
pub struct EndpointGroup<D, S> {
    pub describe: D,
    pub serve: S,
}

/// Serves requests.
impl ApiRoutes for Router<App> {
    fn new() -> Self {
        Router::new()
    }

    fn routes<D, S>(self, endpoints: EndpointGroup<D, S>) -> Self
    where
        D: FnOnce() -> UtoipaMethodRouter<App>,
        S: FnOnce(Router<App>) -> Router<App>,
    {
        (endpoints.serve)(self)
    }

    fn merge(self, other: Self) -> Self {
        Router::merge(self, other)
    }

    fn nest(self, path: &str, inner: Self) -> Self {
        Router::nest(self, path, inner)
    }
}

/// Describes the API.
impl ApiRoutes for OpenApiRouter<App> {
    fn new() -> Self {
        OpenApiRouter::new()
    }

    fn routes<D, S>(self, endpoints: EndpointGroup<D, S>) -> Self
    where
        D: FnOnce() -> UtoipaMethodRouter<App>,
        S: FnOnce(Router<App>) -> Router<App>,
    {
        OpenApiRouter::routes(self, (endpoints.describe)())
    }

    fn merge(self, other: Self) -> Self {
        OpenApiRouter::merge(self, other)
    }

    fn nest(self, path: &str, inner: Self) -> Self {
        OpenApiRouter::nest(self, path, inner)
    }
}

/// Adds a handler to a router, at the path and for the method that its `#[utoipa::path]` names.
pub fn serve_endpoint<E, H, T>(router: Router<App>, handler: H) -> Router<App>
where
    E: utoipa::Path,
    H: Handler<T, App>,
    T: 'static,
{
    let methods = E::methods().iter().map(PathItemExt::to_method_filter).reduce(MethodFilter::or);
    router.route(&E::path(), on(methods.expect("`utoipa::path` has a method"), handler))
}

/// Handlers that have `#[utoipa::path]`, as an argument of `ApiRoutes::routes`.
macro_rules! routes {
    ($($handler:ident),+ $(,)?) => {
        utoipa_axum::paste! {
            $crate::api::endpoints::EndpointGroup {
                describe: || -> utoipa_axum::router::UtoipaMethodRouter<$crate::app::App> {
                    utoipa_axum::routes!($($handler),+)
                },
                serve: |router: axum::Router<$crate::app::App>| -> axum::Router<$crate::app::App> {
                    $(let router = $crate::api::endpoints::serve_endpoint::<[<__path_ $handler>], _, _>(
                        router, $handler,
                    );)+
                    router
                },
            }
        }
    };
}
pub(super) use routes;
