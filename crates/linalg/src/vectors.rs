//! One source, several builds: the widest vectors that the machine has, chosen at run time.

/// Runs `f` in a build for AVX-512 or AVX2 where the machine has them.
///
/// What `f` calls is part of that build where it is inlined. No build fuses a product with a sum or reorders sums, so that all give the same bits.
#[inline(always)]
pub(crate) fn vectorised<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq")]
        fn avx512<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        #[target_feature(enable = "avx2")]
        fn avx2<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        if has_many_registers() {
            // SAFETY: the features were detected.
            return unsafe { avx512(f) };
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the feature was detected.
            return unsafe { avx2(f) };
        }
    }
    f()
}

/// Whether [`vectorised`] takes the build for AVX-512, which has 32 wide registers.
#[inline(always)]
pub(crate) fn has_many_registers() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512dq")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}
