//! ROC and precision–recall curves of a class, and a threshold to drag along them.

use lineal::ThresholdCurve;
use serde_json::json;

use super::chart::{Chart, Line};
use super::page::{escape, section};

/// The block of curves; nothing where there are none. It shows the first class and its curves by itself; the page's script moves the threshold and changes the class.
pub fn thresholds(curves: &[ThresholdCurve], is_proba: bool, classes: &[String]) -> String {
    let Some(first) = curves.first() else { return String::new() };
    let unit = if is_proba { "probability" } else { "score" };
    let usual = if is_proba && classes.len() == 2 { 0.5 } else { 0.0 };
    let data = curves.iter().map(|curve| {
        let column =
            |f: fn(&(f64, u64, u64)) -> f64| curve.points.iter().map(f).collect::<Vec<_>>();
        json!({
            "name": classes[curve.class],
            "rows": curve.rows,
            "auc": curve.auc,
            "ap": curve.average_precision,
            "t": column(|p| p.0),
            "tp": column(|p| p.1 as f64),
            "fp": column(|p| p.2 as f64),
        })
    });
    let start = best_f1(first);
    let at = match classes.len() {
        2 => nearest(first, usual),
        _ => start,
    };
    let data = json!({"unit": unit, "at": at, "classes": data.collect::<Vec<_>>()});
    // Nothing in it can end the script.
    let data = data.to_string().replace('<', "\\u003c");
    let options: String = curves
        .iter()
        .enumerate()
        .map(|(i, curve)| {
            format!("<option value=\"{i}\">{}</option>", escape(&classes[curve.class]))
        })
        .collect();
    let chooser = match curves.len() {
        1 => format!("<b>{}</b>", escape(&classes[first.class])),
        _ => format!("<select aria-label=\"class\">{options}</select>"),
    };
    let last = first.points.len() - 1;
    let control = format!(
        "<div class=\"threshold\"><label>{chooser} if its {unit} is at least <output>{:.3}</output></label>\
         <input type=\"range\" min=\"0\" max=\"{last}\" value=\"{at}\" step=\"1\" aria-label=\"threshold\"></div>\
         <div class=\"readout\">{}</div>",
        first.points[at].0,
        readout(first, at)
    );
    let [n_true, n_other] = first.rows.map(|n| n as f64);
    let mut roc = vec![(0.0, 0.0)];
    roc.extend(first.points.iter().map(|p| (p.2 as f64 / n_other, p.1 as f64 / n_true)));
    let precision = |p: &(f64, u64, u64)| p.1 as f64 / (p.1 + p.2) as f64;
    let pr = first.points.iter().map(|p| (p.1 as f64 / n_true, precision(p))).collect();
    let unit_range = Some((0.0, 1.0));
    let chart = |id, [x_label, y_label]: [&'static str; 2], points, diagonal| {
        let chart = Chart {
            id,
            x_label,
            y_label,
            x_range: unit_range,
            y_range: unit_range,
            lines: vec![Line { name: "", points }],
            diagonal,
            plain: true,
            ..Chart::default()
        };
        chart.html()
    };
    let roc = chart("roc", ["false positive rate", "recall"], roc, true);
    let pr = chart("pr", ["recall", "precision"], pr, false);
    let figure = |title: &str, area: String, svg: &str| {
        format!("<figure><figcaption>{title} <span>{area}</span></figcaption>{svg}</figure>")
    };
    let figures = format!(
        "<div class=\"pair\">{}{}</div>",
        figure("ROC", format!("area {:.4}", first.auc), &roc),
        figure("Precision–recall", format!("area {:.4}", first.average_precision), &pr)
    );
    let html = format!(
        "<div id=\"curves\">{control}{figures}</div><script type=\"application/json\" id=\"curves-data\">{data}</script>"
    );
    let note = match classes.len() {
        2 => "Drag the threshold, or click on a curve.",
        _ => "One class against all others. Drag the threshold, or click on a curve.",
    };
    section("Thresholds", &html, note)
}

/// Names and numbers at a point.
fn readout(curve: &ThresholdCurve, at: usize) -> String {
    let (_, tp, fp) = curve.points[at];
    let [n_true, n_other] = curve.rows;
    let share = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
    let cells = [
        ("precision", format!("{:.3}", share(tp, tp + fp))),
        ("recall", format!("{:.3}", share(tp, n_true))),
        ("F1", format!("{:.3}", share(2 * tp, tp + fp + n_true))),
        ("accuracy", format!("{:.3}", share(tp + n_other - fp, n_true + n_other))),
        ("found", tp.to_string()),
        ("missed", (n_true - tp).to_string()),
        ("false alarms", fp.to_string()),
    ];
    let cell =
        |(name, value): &(&str, String)| format!("<div><b>{value}</b><span>{name}</span></div>");
    cells.iter().map(cell).collect()
}

fn best_f1(curve: &ThresholdCurve) -> usize {
    let f1 = |p: &(f64, u64, u64)| 2.0 * p.1 as f64 / (p.1 + p.2 + curve.rows[0]) as f64;
    let all = curve.points.iter().map(f1).enumerate();
    all.fold((0, -1.0), |best, (i, f1)| if f1 > best.1 { (i, f1) } else { best }).0
}

/// The last point whose threshold is not below.
fn nearest(curve: &ThresholdCurve, threshold: f64) -> usize {
    curve.points.partition_point(|p| p.0 >= threshold).saturating_sub(1)
}
