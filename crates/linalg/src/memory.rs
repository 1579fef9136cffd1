//! What the allocator does with memory that is freed, how much there is, and what happens when there is none.

use crate::process;
use std::alloc::{GlobalAlloc, Layout, System};

/// Blocks from this size on are the system's again once they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 256 << 10;

/// Asks the allocator to give large blocks back to the system as soon as they are freed, for a program to call at its start.
///
/// glibc begins that way, but raises the bound with each block that it sees freed, up to 32 MB; from then on what is freed stays with
/// the process, in pieces that the next matrix does not fit into. Training on text peaks lower
/// for it, and pays with page faults. Other allocators are left alone.
pub fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: takes two integers and sets a number that the allocator reads.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}

/// Gives memory that is free, but in pieces, back to the system: for a program to call between two stages, so that the first stage's small blocks are no part of the second's
/// peak. Other allocators than glibc's are left alone.
pub fn return_free_pieces() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: only memory that nobody holds is given back.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Tables up to this size are asked to be in large pages: of a larger one perhaps a few rows are ever written to, and a page is all there once a byte of it is.
const LARGEST_TABLE: usize = 64 << 20;

/// Asks the system to hold a table in large pages, where that is known how to do. A hint, before anything is written to it: a table of 20 MB that is read and written all over takes ten page faults instead of
/// five thousand.
pub fn prefer_large_pages<T>(table: &[T]) {
    let bytes = std::mem::size_of_val(table);
    if bytes > LARGEST_TABLE {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let start = table.as_ptr().cast::<u8>();
        let before = start.align_offset(PAGE);
        if let Some(len) = bytes.checked_sub(before).filter(|&len| len >= 2 << 20) {
            // SAFETY: the pages begin and end inside the table, and the advice does not change what they hold.
            unsafe {
                libc::madvise(start.add(before).cast_mut().cast(), len, libc::MADV_HUGEPAGE);
            }
        }
    }
}

/// The system's allocator for a program that ends with a sentence, and exit code 1, when there is no more memory:
/// `#[global_allocator] static MEMORY: Allocator = Allocator;`
#[derive(Clone, Copy, Debug)]
pub struct Allocator;

impl Allocator {
    #[cold]
    fn refused(size: usize) -> ! {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut rest = size.div_ceil(1_000_000);
        while at > 0 && (rest > 0 || at == digits.len()) {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        process::end(&[
            b"error: out of memory: ",
            &digits[at..],
            b" MB more were asked for, and the system has not so much; end other programs, raise the limit (ulimit -v), or take less data, fewer classes or features\n",
        ])
    }
}

// SAFETY: hands every request on to the system's allocator, and what it returns back, but for null.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() { Self::refused(layout.size()) } else { block }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() { Self::refused(layout.size()) } else { block }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.realloc(block, layout, size) };
        if block.is_null() { Self::refused(size) } else { block }
    }
}

/// Refuses what cannot be had: a table of `bytes`, of which at least `used` will be written to. `what` is a plural, as in "10 features × 3 weights".
///
/// Memory that nothing is written to costs nothing, so a table may be larger than what is [`available`], as long as the system gives the addresses.
pub fn foresee(what: &str, bytes: u64, used: u64) -> Result<(), String> {
    let in_gb = |bytes: u64| bytes as f64 / 1e9;
    match available() {
        Some(room) if used > room => Err(format!(
            "{what} need {:.1} GB, and {:.1} GB of memory are available",
            in_gb(used),
            in_gb(room)
        )),
        _ if !can_reserve(bytes) => Err(format!(
            "{what} need {:.1} GB, more than the system gives to one program (see ulimit -v)",
            in_gb(bytes)
        )),
        _ => Ok(()),
    }
}

/// Whether the system has that many addresses for us: asked for and given back.
///
/// An optimiser may drop a request that is given back unused, and take it as granted, so the block is hidden from it.
pub fn can_reserve(bytes: u64) -> bool {
    let layout =
        usize::try_from(bytes.max(1)).ok().and_then(|n| Layout::from_size_align(n, 8).ok());
    layout.is_some_and(|layout| {
        // SAFETY: the layout has a size above 0, and what is given is given back with the same layout.
        unsafe {
            let block = std::hint::black_box(System.alloc(layout));
            if !block.is_null() {
                System.dealloc(block, layout);
            }
            !block.is_null()
        }
    })
}

/// How many more bytes this process can use: the least of what the machine has left, its control group allows and its limit on addresses (`ulimit -v`) leaves; `None`
/// where none of these is known.
pub fn available() -> Option<u64> {
    let of_machine = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let kilobytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        };
        Some((kilobytes("MemAvailable:")? + kilobytes("SwapFree:").unwrap_or(0)) << 10)
    };
    [of_machine(), of_group(), of_addresses()].into_iter().flatten().min()
}

/// By the control group, version 2, of a container or a job.
fn of_group() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let folder = format!("/sys/fs/cgroup{}", group.trim_end_matches('/'));
    let number = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("{folder}/{name}")).ok()?.trim().parse().ok()
    };
    let (most, used) = (number("memory.max")?, number("memory.current")?);
    // Pages of files count as used, and are given up when memory is needed.
    let stat = std::fs::read_to_string(format!("{folder}/memory.stat")).unwrap_or_default();
    let of_files = stat.lines().find_map(|line| line.strip_prefix("inactive_file "));
    let of_files = of_files.and_then(|n| n.parse().ok()).unwrap_or(0);
    Some(most.saturating_sub(used.saturating_sub(of_files)))
}

fn of_addresses() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    let used = std::fs::read_to_string("/proc/self/status").ok()?;
    let used = used.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let used = used.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
    Some(most.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_foreseen() {
        assert!(foresee("weights", 1 << 10, 1 << 10).is_ok());
        assert!(can_reserve(0) && can_reserve(1 << 20) && !can_reserve(u64::MAX));
        for used in [1, 1 << 60] {
            let why = foresee("weights", 1 << 60, used).unwrap_err();
            assert!(why.contains("weights need 1152921504.6 GB"), "{why}");
        }
    }
}
