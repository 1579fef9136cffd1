//! The certificate's adversary, as far as it fits into a minute: `cargo run --release -p lineal-fuzz --bin certificates` goes on.

use lineal_fuzz::certificates::run;

#[test]
fn no_problem_of_two_thousand_has_an_optimum_below_its_certificate() {
    let findings = run(14, 2000);
    println!("{findings}");
    assert!(findings.violations.is_empty(), "{findings}");
    // It would find nothing if it did nothing.
    assert!(findings.cases() > 1000, "{findings}");
    assert!(findings.matched * 2 > findings.cases(), "{findings}");
}
