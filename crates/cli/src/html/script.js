// What moves in a report. The page of `lineal serve` shows blocks of reports, too, and calls it for each of them.
window.linealReport = function (root) {
// Tables that can be sorted by a click on a head.
root.querySelectorAll("table.sort").forEach(function (table) {
  var heads = table.tHead.rows[0].cells, body = table.tBodies[0];
  Array.prototype.forEach.call(heads, function (head, column) {
    // A button inside: a head with the role of a button is no head any more.
    var button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) button.appendChild(head.firstChild);
    head.appendChild(button);
    function value(row) {
      var text = row.cells[column] ? row.cells[column].textContent.trim() : "";
      var number = Number(text.replace(/[,\s%]/g, "").replace("−", "-").replace("+", ""));
      return text !== "" && number === number ? number : text.toLowerCase();
    }
    function sort() {
      var down = head.getAttribute("aria-sort") === "descending";
      var up = head.getAttribute("aria-sort") === "ascending";
      var first = head.classList.contains("n") ? "descending" : "ascending";
      var order = down ? "ascending" : up ? "descending" : first;
      Array.prototype.forEach.call(heads, function (other) { other.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", order);
      var rows = Array.prototype.slice.call(body.rows).map(function (row) { return [value(row), row]; });
      rows.sort(function (a, b) {
        var same = typeof a[0] === typeof b[0];
        var by = same ? (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) : typeof a[0] === "number" ? -1 : 1;
        return order === "ascending" ? by : same ? -by : by;
      });
      rows.forEach(function (row) { body.appendChild(row[1]); });
    }
    head.addEventListener("click", sort);
  });
});
// The threshold along the curves.
(function () {
  var box = root.querySelector("#curves"), text = root.querySelector("#curves-data");
  if (!box || !text) return;
  var data = JSON.parse(text.textContent), chosen = data.classes[0];
  var range = box.querySelector("input"), select = box.querySelector("select");
  var output = box.querySelector("output"), cells = box.querySelectorAll(".readout b");
  var areas = box.querySelectorAll("figcaption span");
  function share(a, b) { return b ? a / b : 0; }
  function point(kind, i) {
    var tp = chosen.tp[i], fp = chosen.fp[i], n = chosen.rows[0];
    return kind === "roc" ? [share(fp, chosen.rows[1]), share(tp, n)] : [share(tp, n), share(tp, tp + fp)];
  }
  var plots = ["roc", "pr"].map(function (kind) {
    var svg = root.querySelector("#" + kind), frame = svg.dataset.frame.split(" ").map(Number);
    svg.insertAdjacentHTML("beforeend", '<circle class="handle" r="6"></circle>');
    var line = svg.querySelector("polyline"), dot = svg.querySelector(".handle");
    function at(p) { return [frame[0] + p[0] * (frame[1] - frame[0]), frame[2] + p[1] * (frame[3] - frame[2])]; }
    function pick(e) {
      var m = svg.getScreenCTM().inverse(), x = e.clientX * m.a + m.e, y = e.clientY * m.d + m.f, best = 0, least = Infinity;
      for (var i = 0; i < chosen.t.length; i++) {
        var p = at(point(kind, i)), far = (p[0] - x) * (p[0] - x) + (p[1] - y) * (p[1] - y);
        if (far < least) { least = far; best = i; }
      }
      range.value = best;
      show();
    }
    svg.addEventListener("pointerdown", function (e) { svg.setPointerCapture(e.pointerId); pick(e); });
    svg.addEventListener("pointermove", function (e) { if (e.buttons) pick(e); });
    return {
      draw: function () {
        var points = kind === "roc" ? [at([0, 0])] : [];
        for (var i = 0; i < chosen.t.length; i++) points.push(at(point(kind, i)));
        line.setAttribute("points", points.map(function (p) { return p[0].toFixed(1) + "," + p[1].toFixed(1); }).join(" "));
      },
      mark: function (i) {
        var p = at(point(kind, i));
        dot.setAttribute("cx", p[0]);
        dot.setAttribute("cy", p[1]);
      }
    };
  });
  function show() {
    var i = Math.min(Number(range.value), chosen.t.length - 1);
    var tp = chosen.tp[i], fp = chosen.fp[i], n = chosen.rows[0], others = chosen.rows[1];
    var shares = [share(tp, tp + fp), share(tp, n), share(2 * tp, tp + fp + n), share(tp + others - fp, n + others)];
    output.textContent = chosen.t[i].toFixed(3);
    shares.forEach(function (value, at) { cells[at].textContent = value.toFixed(3); });
    [tp, n - tp, fp].forEach(function (value, at) { cells[4 + at].textContent = value; });
    plots.forEach(function (plot) { plot.mark(i); });
  }
  function bestF1() {
    var best = 0, most = -1;
    for (var i = 0; i < chosen.t.length; i++) {
      var f1 = share(2 * chosen.tp[i], chosen.tp[i] + chosen.fp[i] + chosen.rows[0]);
      if (f1 > most) { most = f1; best = i; }
    }
    return best;
  }
  if (select) select.addEventListener("change", function () {
    chosen = data.classes[Number(select.value)];
    range.max = chosen.t.length - 1;
    range.value = bestF1();
    areas[0].textContent = "area " + chosen.auc.toFixed(4);
    areas[1].textContent = "area " + chosen.ap.toFixed(4);
    plots.forEach(function (plot) { plot.draw(); });
    show();
  });
  range.addEventListener("input", show);
  range.value = data.at;
  show();
})();
};
window.linealReport(document);
