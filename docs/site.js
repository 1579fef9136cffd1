// Browsers break lines after a hyphen. Flags such as --no-header stay in one piece.
for (const code of document.querySelectorAll("table code")) {
  const words = code.textContent.split(" ");
  if (code.children.length || words.every((word) => !word.startsWith("-"))) continue;
  code.replaceChildren();
  words.forEach((word, index) => {
    const piece = document.createElement("span");
    piece.textContent = word;
    if (word.startsWith("-") && word.length < 30) piece.style.whiteSpace = "nowrap";
    code.append(index ? " " : "", piece);
  });
}
