//! What the allocator does with memory that is freed.

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
