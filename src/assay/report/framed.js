// In the frame of a notebook, addresses count from the notebook: a link within the page would lead there.
addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  const place = link && document.getElementById(decodeURIComponent(link.getAttribute("href").slice(1)));
  if (!place) return;
  event.preventDefault();
  for (let outer = place.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
  place.scrollIntoView();
});
