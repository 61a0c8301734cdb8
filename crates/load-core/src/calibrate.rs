//! A workload pointed at a target that does nothing, to measure what the client itself can do.

use crate::{ConfigError, Failure, Op, SessionId, Workload};
use std::{error::Error, fmt, sync::Arc, time::Duration};

/// Something that points at a null target (an address, a workload), and what keeps that target alive.
pub struct Nulled<T> {
    it: T,
    guard: NullGuard,
}

/// Keeps null targets alive; they stop when it is dropped.
#[derive(Default)]
pub struct NullGuard(Vec<Box<dyn Send>>);

impl<T> Nulled<T> {
    /// `it`, whose target lives as long as `guard`: dropping it stops the server and frees its port.
    pub fn new(it: T, guard: impl Send + 'static) -> Nulled<T> {
        Nulled { it, guard: NullGuard(vec![Box::new(guard)]) }
    }

    /// Something else that points at the same target.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Nulled<U> {
        Nulled { it: f(self.it), guard: self.guard }
    }

    /// This one and another, with the targets of both.
    pub fn and<U>(mut self, other: Nulled<U>) -> Nulled<(T, U)> {
        self.guard.0.extend(other.guard.0);
        Nulled { it: (self.it, other.it), guard: self.guard }
    }

    /// The thing, and what must outlive its use.
    pub fn into_parts(self) -> (T, NullGuard) {
        (self.it, self.guard)
    }
}

impl<T> fmt::Debug for Nulled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nulled")
    }
}

impl fmt::Debug for NullGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NullGuard({} targets)", self.0.len())
    }
}

/// Why a null target could not be started.
#[derive(Debug, thiserror::Error)]
#[error("no null target for {workload}: {source}")]
pub struct NullTargetError {
    workload: String,
    source: Box<dyn Error + Send + Sync>,
}

impl NullTargetError {
    /// For `workload`, because of `source`.
    pub fn new(
        workload: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> NullTargetError {
        NullTargetError { workload: workload.into(), source: source.into() }
    }
}

/// A workload of one's own that can be calibrated: given as a function from an address to the workload, with a
/// function that starts a null target. `address` may be of any type: a socket address, a URL, a set of them.
///
/// `null` is called with the delay after which the target answers (zero: at once) and gives the target's address; a
/// protocol crate's null target, or a server of one's own:
///
/// ```
/// use load_core::{Failure, NullTargetError, Nulled, SessionId, calibrated, with_session};
/// use std::{io::{Read, Write}, net::{SocketAddr, TcpListener, TcpStream}, thread, time::Duration};
///
/// /// Sends back what it gets. It ends with the connections, so that nothing needs to be kept.
/// fn echo(delay: Duration) -> Result<Nulled<SocketAddr>, NullTargetError> {
///     let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| NullTargetError::new("echo", e))?;
///     let address = listener.local_addr().map_err(|e| NullTargetError::new("echo", e))?;
///     thread::spawn(move || {
///         let Ok((mut peer, _)) = listener.accept() else { return };
///         let mut byte = [0];
///         while peer.read_exact(&mut byte).is_ok() {
///             thread::sleep(delay);
///             if peer.write_all(&byte).is_err() {
///                 return;
///             }
///         }
///     });
///     Ok(Nulled::new(address, ()))
/// }
///
/// let ping = |address: SocketAddr| {
///     with_session(
///         async move |_: &SessionId| Ok(TcpStream::connect(address)?),
///         async |peer, op| {
///             peer.write_all(b"x")?;
///             peer.read_exact(&mut [0])?;
///             op.bytes_in(1);
///             Ok(())
///         },
///     )
/// };
/// let workload = calibrated("10.0.0.7:7".parse::<SocketAddr>().unwrap(), ping, echo);
/// ```
pub fn calibrated<A, W, M, N>(address: A, make: M, null: N) -> Calibrated<W, M, N>
where
    W: Workload,
    M: Fn(A) -> W + Send + Sync + 'static,
    N: Fn(Duration) -> Result<Nulled<A>, NullTargetError> + Send + Sync + 'static,
{
    Calibrated { workload: make(address), how: Arc::new((make, null)) }
}

/// See [`calibrated`].
pub struct Calibrated<W, M, N> {
    workload: W,
    how: Arc<(M, N)>,
}

impl<W, M, N> fmt::Debug for Calibrated<W, M, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Calibrated")
    }
}

impl<A, W, M, N> Workload for Calibrated<W, M, N>
where
    W: Workload,
    M: Fn(A) -> W + Send + Sync + 'static,
    N: Fn(Duration) -> Result<Nulled<A>, NullTargetError> + Send + Sync + 'static,
{
    type Session = W::Session;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<W::Session, Failure> {
        self.workload.connect(id, op).await
    }

    fn describe(&self) -> String {
        self.workload.describe()
    }

    fn validate(&self) -> Result<(), ConfigError> {
        self.workload.validate()
    }

    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Self>>, NullTargetError> {
        let (make, null) = &*self.how;
        let nulled = null(delay)?;
        Ok(Some(nulled.map(|address| Calibrated { workload: make(address), how: self.how.clone() })))
    }
}
