// The first elements of the page that stick out of the window.
(() => {
  const all = [...document.querySelectorAll('body *')].filter(one => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
  });
  return all.slice(0, 5).map(one => one.outerHTML.slice(0, 120));
})()
