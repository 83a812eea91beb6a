// Printing from the page itself.
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
});
