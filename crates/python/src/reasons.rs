//! Why parts of structured outputs are what they are, as dictionaries.

use lineal::{
    ArcExplanation, DeclaredExplanation, DeclaredModel, DependencyModel, PartReason,
    PhraseExplanation, RankExplanation, SegmentExplanation, SegmentModel, TagExplanation,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What is said of every part: by how much it leads, what for, and what the reasons that are not shown add up to.
fn entry<'py>(
    py: Python<'py>,
    lead: Option<f64>,
    mut reasons: Vec<(String, String, f64)>,
    top: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let rest = reasons.split_off(top.unwrap_or(reasons.len()).min(reasons.len()));
    let out = PyDict::new(py);
    out.set_item("lead", lead)?;
    out.set_item("n_rest", rest.len())?;
    out.set_item("rest", rest.iter().map(|(.., amount)| amount).sum::<f64>())?;
    out.set_item("reasons", reasons)?;
    Ok(out)
}

fn parts(reasons: Vec<PartReason>) -> Vec<(String, String, f64)> {
    reasons.into_iter().map(|reason| (reason.feature, reason.part, reason.amount)).collect()
}

pub(crate) fn of_tag<'py>(
    py: Python<'py>,
    why: TagExplanation,
    top: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let reasons = why.reasons.iter();
    let reasons = reasons
        .map(|r| (r.what.clone(), format!("{} at word {}", r.kind, r.position), r.difference()));
    let out = entry(py, Some(why.lead), reasons.collect(), top)?;
    out.set_item("position", why.position)?;
    out.set_item("winner", why.label)?;
    out.set_item("runner_up", why.other)?;
    out.set_item("probability", why.probability)?;
    Ok(out)
}

pub(crate) fn of_arc<'py>(
    py: Python<'py>,
    model: &DependencyModel,
    why: ArcExplanation,
    top: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let out = entry(py, Some(why.lead), parts(why.reasons), top)?;
    out.set_item("position", why.word)?;
    out.set_item("winner", (why.head, model.relation(why.relation)))?;
    out.set_item("runner_up", why.other)?;
    out.set_item("probability", why.probability)?;
    Ok(out)
}

pub(crate) fn of_phrase<'py>(
    py: Python<'py>,
    why: PhraseExplanation,
    top: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let plain = |p: &lineal::constituents::Phrase| (p.label.clone(), p.start, p.end);
    let out = entry(py, Some(why.lead), parts(why.reasons), top)?;
    out.set_item("winner", plain(&why.phrase))?;
    out.set_item("runner_up", why.instead.map(|all| all.iter().map(plain).collect::<Vec<_>>()))?;
    out.set_item("probability", why.probability)?;
    Ok(out)
}

pub(crate) fn of_document<'py>(
    py: Python<'py>,
    why: RankExplanation,
    top: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let reasons = why.reasons.into_iter();
    let reasons = reasons.map(|r| (r.feature, format!("{} against {}", r.value, r.other), r.lead));
    let out = entry(py, Some(why.lead), reasons.collect(), top)?;
    out.set_item("document", why.document)?;
    out.set_item("rank", why.rank)?;
    out.set_item("score", why.score)?;
    out.set_item("other", why.other)?;
    Ok(out)
}

pub(crate) fn of_pixel<'py>(
    py: Python<'py>,
    model: &SegmentModel,
    why: SegmentExplanation,
    top: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let name = |id: u8| model.labels().get(usize::from(id)).cloned();
    let out = entry(py, Some(why.lead), parts(why.reasons), top)?;
    out.set_item("position", why.node)?;
    out.set_item("winner", name(why.label))?;
    out.set_item("runner_up", name(why.other))?;
    out.set_item("confidence", why.confidence)?;
    out.set_item("n_others", why.n_others)?;
    Ok(out)
}

pub(crate) fn of_variable<'py>(
    py: Python<'py>,
    model: &DeclaredModel,
    why: DeclaredExplanation,
    top: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let kind = &model.declaration().variables()[why.kind];
    let name = |id: u32| kind.labels.get(id as usize).cloned();
    let found = why.found;
    let reasons = found.features.into_iter().map(|f| (f.name, kind.name.clone(), f.share));
    let out = entry(py, found.lead, reasons.collect(), top)?;
    out.set_item("position", why.variable)?;
    out.set_item("kind", &kind.name)?;
    out.set_item("winner", name(found.label))?;
    out.set_item("runner_up", found.runner_up.and_then(name))?;
    out.set_item("alone", name(found.alone))?;
    out.set_item("without_rules", name(found.without_rules))?;
    out.set_item("rules", found.rules)?;
    Ok(out)
}
