//! Our servers can be restarted by recovery checks that know nothing of them but that.

use load_core::{Restart, RestartError};

use crate::{LocalProcess, Memcached, Nginx, Postgres, Redis};

impl Restart for LocalProcess {
    fn name(&self) -> &str {
        LocalProcess::name(self)
    }

    async fn restart(&self) -> Result<(), RestartError> {
        self.restart_unawaited().await.map_err(|error| RestartError::new(LocalProcess::name(self), error))
    }
}

macro_rules! by_its_process {
    ($($server:ty),+) => {$(
        impl Restart for $server {
            fn name(&self) -> &str {
                self.process().name()
            }

            async fn restart(&self) -> Result<(), RestartError> {
                Restart::restart(self.process()).await
            }
        }
    )+};
}

by_its_process!(Nginx, Redis, Memcached, Postgres);
