'use strict';
// The colours of the timeline: those of the flame graph, and of the page.
const colours = (() => {
  // As flame_hue() does.
  const hues = page.data.names.map(text => {
    let hash = 2166136261;
    for (const byte of new TextEncoder().encode(text.split(/[(<]/, 1)[0])) hash = Math.imul(hash ^ byte, 16777619);
    return ((hash ^ hash >>> 15) >>> 0) % 8;
  });
  const all = {hueOf: name => all.hues[hues[name]]};

  // Stripes, for what was lost.
  function hatched(context) {
    const tile = document.createElement('canvas'), stripes = tile.getContext('2d');
    tile.width = tile.height = 8;
    stripes.strokeStyle = all.bad;
    stripes.globalAlpha = 0.55;
    for (const x of [-8, 0, 8]) {
      stripes.moveTo(x, 8);
      stripes.lineTo(x + 8, 0);
    }
    stripes.stroke();
    return context.createPattern(tile, 'repeat');
  }

  // Reads them from the style sheets, as they are in the light or in the dark.
  all.read = context => {
    const ofPage = getComputedStyle(document.documentElement), ofFlame = getComputedStyle(document.querySelector('#flame > svg'));
    const value = (style, key) => style.getPropertyValue(`--${key}`).trim();
    for (const key of ['paper', 'raised', 'ink', 'faint', 'line', 'bad', 'bad-paper', 'accent', 'running', 'preempted', 'blocked']) all[key] = value(ofPage, key);
    all.hues = [...Array(8).keys()].map(i => value(ofFlame, `h${i}`));
    all.other = value(ofFlame, 'other');
    all.found = value(ofFlame, 'found');
    all.lost = hatched(context);
  };
  return all;
})();
