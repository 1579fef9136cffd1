//! What the operating system does to a process, made into one sentence and an exit code: for a program to call at its start.
//!
//! A library must not do these things to the process that it is part of, so nothing here happens by itself.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Prepares the process for what would otherwise end it without a word.
///
/// - A file that is mapped and cut short by another program: a message that names it, and exit code 1.
/// - The limit on the size of files (`ulimit -f`): writing fails with an error, as on a full disk.
///
/// `last_words` is called before the process ends so; it must not wait for anything.
pub fn prepare(last_words: fn()) {
    LAST_WORDS.store(last_words as *mut (), Ordering::SeqCst);
    #[cfg(target_os = "linux")]
    linux::prepare();
}

/// Whether the process was started with a closed standard output. (Rust opens `/dev/null` in its place, into which results would vanish.)
pub fn stdout_was_closed() -> bool {
    #[cfg(target_os = "linux")]
    return linux::STDOUT_WAS_CLOSED.load(Ordering::Relaxed);
    #[cfg(not(target_os = "linux"))]
    false
}

/// Runs `install`, which takes over signals, and gives those back that whoever started the process had it ignore: `nohup` does so with hangups, and a shell
/// with Ctrl-C for a job in the background.
pub fn keeping_ignored_signals<R>(install: impl FnOnce() -> R) -> R {
    #[cfg(target_os = "linux")]
    return linux::keeping_ignored(install);
    #[cfg(not(target_os = "linux"))]
    install()
}

/// Lets the process have as many files and connections open as its user may: the usual limit of 1,024 is there for programs of another age (`select`), and the hard limit is far above it.
pub fn allow_many_files() {
    #[cfg(target_os = "linux")]
    linux::allow_many_files();
}

static LAST_WORDS: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Says a sentence on stderr without allocating, and ends the process with exit code 1.
pub(crate) fn end(parts: &[&[u8]]) -> ! {
    use std::io::Write;
    let mut line = [0u8; 1024];
    let mut n = 0;
    for part in parts {
        let len = part.len().min(line.len() - n);
        line[n..n + len].copy_from_slice(&part[..len]);
        n += len;
    }
    // A closed stderr is nobody's problem. This writer has no buffer and takes a lock that is free or ours.
    let _ = std::io::stderr().write_all(&line[..n]);
    let last_words = LAST_WORDS.load(Ordering::SeqCst);
    if !last_words.is_null() {
        // SAFETY: the only pointer that is ever stored there is a `fn()`, by `prepare`.
        let last_words = unsafe { std::mem::transmute::<*mut (), fn()>(last_words) };
        last_words();
    }
    #[cfg(unix)]
    // SAFETY: ends the process at once; what other threads do does not matter any more.
    unsafe {
        libc::_exit(1)
    }
    #[cfg(not(unix))]
    std::process::abort()
}

/// Files that are mapped, for the handler of bus errors, which can neither lock nor allocate.
static MAPS: [Map; 128] = [const { Map::new() }; 128];

struct Map {
    /// 0 if the place is free.
    start: AtomicUsize,
    end: AtomicUsize,
    name: AtomicPtr<u8>,
    name_len: AtomicUsize,
}

impl Map {
    const fn new() -> Self {
        Self {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            name: AtomicPtr::new(std::ptr::null_mut()),
            name_len: AtomicUsize::new(0),
        }
    }
}

/// A place among [`MAPS`], free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    at: Option<usize>,
    /// What the place points to.
    _name: Box<[u8]>,
}

/// Tells the handler of bus errors of a map.
pub(crate) fn register(map: &[u8], name: &str) -> Registered {
    let start = map.as_ptr() as usize;
    let mut name: Box<[u8]> = name.as_bytes().into();
    let take = |place: &Map| {
        !map.is_empty()
            && place.start.compare_exchange(0, start, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    };
    let at = MAPS.iter().position(take);
    if let Some(at) = at {
        MAPS[at].name.store(name.as_mut_ptr(), Ordering::SeqCst);
        MAPS[at].name_len.store(name.len(), Ordering::SeqCst);
        MAPS[at].end.store(start + map.len(), Ordering::SeqCst);
    }
    Registered { at, _name: name }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(at) = self.at {
            MAPS[at].end.store(0, Ordering::SeqCst);
            MAPS[at].start.store(0, Ordering::SeqCst);
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{MAPS, end};
    use std::mem::zeroed;
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    /// Runs before Rust's own start, which opens what is closed.
    #[used]
    // SAFETY: the section holds pointers to functions that the loader calls, one after the other, before `main`; this one needs nothing that is set up later.
    #[unsafe(link_section = ".init_array")]
    static AT_START: extern "C" fn() = {
        extern "C" fn look_at_stdout() {
            // SAFETY: asks for a flag of a descriptor.
            let closed = unsafe { libc::fcntl(1, libc::F_GETFD) } == -1;
            STDOUT_WAS_CLOSED.store(closed, Ordering::Relaxed);
        }
        look_at_stdout
    };

    pub(super) fn prepare() {
        // SAFETY: an action of zeros is a valid one; the handler has the form that SA_SIGINFO asks for, and ignoring takes no handler.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            let mut action: libc::sigaction = zeroed();
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &action, null_mut());
        }
    }

    /// A page of a mapped file is no longer there, or cannot be read. The thread stands at a plain read of memory, so no lock is half taken.
    extern "C" fn on_bus_error(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the system passes a valid description of the signal, which for this signal has an address.
        let at = unsafe { (*info).si_addr() } as usize;
        let holds = |m: &&super::Map| {
            (m.start.load(Ordering::SeqCst)..m.end.load(Ordering::SeqCst)).contains(&at)
        };
        if let Some(map) = MAPS.iter().find(holds) {
            let (name, len) =
                (map.name.load(Ordering::SeqCst), map.name_len.load(Ordering::SeqCst));
            // SAFETY: `register` stored both, and whoever reads the map, as this thread does, keeps its name alive.
            let name = unsafe { std::slice::from_raw_parts(name, len) };
            end(&[
                b"error: ",
                name,
                b" was cut short or could not be read while it was in use; leave it alone until the run is over, and run it again\n",
            ]);
        }
        // Something else: on return the instruction is run again, and ends the process as it would have.
        // SAFETY: sets the default action.
        unsafe {
            libc::signal(libc::SIGBUS, libc::SIG_DFL);
        }
    }

    pub(super) fn allow_many_files() {
        // SAFETY: reads and writes a local of the right type; a refusal changes nothing.
        unsafe {
            let mut limit: libc::rlimit = zeroed();
            if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
                limit.rlim_cur = limit.rlim_max.min(1 << 20).max(limit.rlim_cur);
                libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
            }
        }
    }

    pub(super) fn keeping_ignored<R>(install: impl FnOnce() -> R) -> R {
        let signals = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
        let ignored = signals.map(|signal| {
            // SAFETY: an action of zeros is a valid one, and is overwritten with what is in force.
            unsafe {
                let mut action: libc::sigaction = zeroed();
                libc::sigaction(signal, std::ptr::null(), &mut action) == 0
                    && action.sa_sigaction == libc::SIG_IGN
            }
        });
        let ignored = || signals.into_iter().zip(ignored).filter(|(_, ignored)| *ignored);
        // Held back meanwhile: between `install` and the end such a signal would find a handler. Once it is ignored again, what was held back is gone.
        // SAFETY: sets of zeros are valid ones; all pointers are to locals of the right types.
        let before = unsafe {
            let (mut held, mut before): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
            libc::sigemptyset(&mut held);
            ignored().for_each(|(signal, _)| {
                libc::sigaddset(&mut held, signal);
            });
            libc::pthread_sigmask(libc::SIG_BLOCK, &held, &mut before);
            before
        };
        let done = install();
        ignored().for_each(|(signal, _)| {
            // SAFETY: ignoring takes no handler.
            unsafe {
                libc::signal(signal, libc::SIG_IGN);
            }
        });
        // SAFETY: the set is the one that was in force.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_maps_are_given_back() {
        let bytes = [1u8; 8];
        let before = MAPS.iter().filter(|m| m.start.load(Ordering::SeqCst) != 0).count();
        for _ in 0..2 * MAPS.len() {
            let place = register(&bytes, "a");
            assert!(place.at.is_some());
        }
        let many: Vec<_> = (0..2 * MAPS.len()).map(|_| register(&bytes, "b")).collect();
        assert!(many.last().is_some_and(|place| place.at.is_none()));
        drop(many);
        let after = MAPS.iter().filter(|m| m.start.load(Ordering::SeqCst) != 0).count();
        assert!(after <= before.max(8));
        assert!(register(&[], "c").at.is_none());
    }

    #[test]
    fn ignored_signals_stay_ignored_around_anything() {
        allow_many_files();
        assert_eq!(keeping_ignored_signals(|| 7), 7);
        assert!(!stdout_was_closed());
    }
}
