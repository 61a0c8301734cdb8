use super::*;
use crate::Lease;

#[test]
fn real_a_stack_starts_what_it_is_told_and_two_do_not_disturb_each_other() {
    let needed = ["nginx", "redis-server", "memcached"];
    if let Some(missing) = needed.into_iter().find(|name| !crate::installed(name)) {
        eprintln!("SKIPPED: {missing} is not installed");
        return;
    }
    let start = || {
        let stack = Stack::builder()
            .nginx(Nginx::builder())
            .redis(Redis::builder())
            .memcached(Memcached::builder().memory_megabytes(16))
            .postgres_at("postgresql://me:hunter2@127.0.0.1/mine");
        stack.start_blocking().unwrap()
    };
    let (one, other) = std::thread::scope(|scope| {
        let both = [scope.spawn(start), scope.spawn(start)];
        let mut both = both.map(|thread| thread.join().unwrap()).into_iter();
        (both.next().unwrap(), both.next().unwrap())
    });
    assert_ne!(one.nginx_url(), other.nginx_url());
    assert_ne!(one.redis().unwrap().password(), other.redis().unwrap().password());
    assert_eq!(one.postgres_url_with_password().unwrap(), "postgresql://me:hunter2@127.0.0.1/mine");
    assert!(one.postgres().is_none(), "it is not ours");
    assert!(!format!("{one:?}").contains("hunter2"));
    let names: Vec<_> = one.processes().map(LocalProcess::name).collect();
    assert_eq!(names, ["nginx", "redis", "memcached"]);
    assert!(one.describe().keys().eq(["memcached", "nginx", "redis"]));
    let dirs: Vec<_> = one.processes().map(|process| process.dir().to_owned()).collect();
    assert!(dirs.iter().all(|dir| dir.starts_with(Lease::current().unwrap().dir())), "{dirs:?}");
    drop(one);
    assert!(dirs.iter().all(|dir| !dir.exists()));
    assert!(other.processes().all(LocalProcess::is_ready), "the other goes on");
}

#[test]
fn a_server_that_cannot_be_started_stops_the_others() {
    if !crate::installed("nginx") {
        eprintln!("SKIPPED: nginx is not installed");
        return;
    }
    let stack = Stack::builder().nginx(Nginx::builder()).redis(Redis::builder().binary("/no/such/redis"));
    let error = stack.start_blocking().unwrap_err();
    assert!(error.is_missing() && error.to_string().contains("redis"), "{error}");
}

#[test]
fn nothing_is_a_stack_too() {
    let stack = Stack::builder().memcached_at("127.0.0.1:11211").start_blocking().unwrap();
    assert_eq!((stack.nginx_url(), stack.processes().count()), (None, 0));
    assert_eq!(stack.memcached_address().as_deref(), Some("127.0.0.1:11211"));
}
