"""Style sheet of the page: light and dark, from a phone to paper. Green marks only asbuilt's own evidence."""

from __future__ import annotations

from typing import Final

STYLE: Final = """\
:root {
  --paper: #fff; --wash: #f6f7f9; --ink: #1b1f24; --mute: #5c6570; --line: #dfe3e8;
  --proven: #11703f; --proven-wash: #e4f4ea; --failed: #b42318; --failed-wash: #fdecea;
  --open: #8a5a00; --open-wash: #fdf2d8; --plain-wash: #edf0f3;
  --work: #4a74d6; --check: #69788a; --judge: #9563d3; --wait: #cfd5dc; --prepare: #a3adb8; --land: #2b3440;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --wash: #1c2026; --ink: #e6e9ed; --mute: #98a2ae; --line: #2f363f;
    --proven: #5fd08f; --proven-wash: #14321f; --failed: #ff8a80; --failed-wash: #3d1a17;
    --open: #f0bd5b; --open-wash: #3a2c0d; --plain-wash: #282e36;
    --work: #6f95ee; --check: #8794a5; --judge: #b48cec; --wait: #3d4650; --prepare: #5e6975; --land: #cdd4dc;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  overflow-wrap: anywhere;
}
h1, h2, h3, h4, p, ul, dl, dd, figure, pre { margin: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -.015em; margin: .2rem 0 .7rem; }
h2 { font-size: 1.2rem; line-height: 1.35; letter-spacing: -.005em; }
h3 { font-size: .8rem; color: var(--mute); margin: 1.5rem 0 .5rem; font-weight: 600; }
h3 { text-transform: uppercase; letter-spacing: .06em; }
p + p, p + ul, ul + p, pre + p, p + pre { margin-top: .5rem; }
code, pre { font: .86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
code { background: var(--wash); padding: .1em .22em; border-radius: 4px; }
pre {
  background: var(--wash); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem;
  white-space: pre-wrap; margin-top: .5rem;
}
.above, footer, .below { color: var(--mute); font-size: .92rem; }
.below { font-size: 1rem; }
.mark {
  display: inline-block; padding: .05em .55em; border-radius: 99px; font-size: .78em; font-weight: 600;
  line-height: 1.6; vertical-align: .06em; white-space: nowrap;
}
.mark.proven { color: var(--proven); background: var(--proven-wash); }
.mark.failed { color: var(--failed); background: var(--failed-wash); }
.mark.open { color: var(--open); background: var(--open-wash); }
.mark.plain { color: var(--mute); background: var(--plain-wash); }
.said, .said q { color: var(--mute); }
.said q { font-style: italic; quotes: "“" "”"; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); margin: 1.6rem 0 2rem; }
.figures { border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
.figures { gap: 1px; background: var(--line); }
.figures div { padding: .8rem 1rem; background: var(--paper); }
.figures dd { font-size: 1.45rem; line-height: 1.25; font-weight: 600; font-variant-numeric: tabular-nums; }
.figures dt { color: var(--mute); font-size: .82rem; }
.figures .proven dd { color: var(--proven); }
.figures .failed dd { color: var(--failed); }
.figures .open dd { color: var(--open); }
figure img { display: block; max-width: 100%; border: 1px solid var(--line); border-radius: 8px; }
figcaption { color: var(--mute); font-size: .82rem; padding: .3rem 0 1.2rem; }
svg.graph { max-width: 44rem; margin: 0 auto; }
svg { display: block; width: 100%; overflow: visible; font: 13px system-ui, sans-serif; }
section { margin-top: 2.2rem; }
section > h2 { padding-bottom: .4rem; border-bottom: 1px solid var(--line); margin-bottom: .8rem; }
details { border: 1px solid var(--line); border-radius: 12px; margin-top: .9rem; padding: 0 1.1rem; }
details[open] { padding-bottom: 1.2rem; }
summary { cursor: pointer; padding: .8rem 0; list-style-position: inside; }
summary h2 { display: inline; font-size: 1.08rem; }
summary .mark { margin-left: .4rem; }
ul { padding: 0; list-style: none; }
li { padding: .5rem 0; border-top: 1px solid var(--line); }
li:first-child { border-top: 0; }
li > p { color: var(--mute); font-size: .92rem; margin-top: .15rem; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; margin-top: .3rem; }
th { text-align: left; font-weight: 600; color: var(--mute); font-size: .8rem; }
th, td { padding: .45rem .8rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
th:first-child { width: 40%; }
.short { white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.box { fill: var(--paper); stroke: var(--line); stroke-width: 1.5; }
.box.proven { fill: var(--proven-wash); stroke: var(--proven); }
.box.failed { fill: var(--failed-wash); stroke: var(--failed); }
.box.open { fill: var(--open-wash); stroke: var(--open); }
.box.plain { fill: var(--plain-wash); }
.edge { stroke: var(--mute); stroke-width: 1.5; opacity: .55; }
.grid { stroke: var(--line); }
svg text { fill: var(--ink); }
svg .small { fill: var(--mute); font-size: 12px; }
.node { font: 13px/1.3 system-ui, sans-serif; padding: 7px 10px; color: var(--ink); }
.node, .node span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.node span { color: var(--mute); }
.work { fill: var(--work); background: var(--work); }
.check { fill: var(--check); background: var(--check); }
.judge { fill: var(--judge); background: var(--judge); }
.wait { fill: var(--wait); background: var(--wait); }
.prepare { fill: var(--prepare); background: var(--prepare); }
.land { fill: var(--land); background: var(--land); }
.key { color: var(--mute); font-size: .82rem; margin-top: .5rem; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; }
.key i { display: inline-block; width: .7em; height: .7em; border-radius: 2px; margin-right: .4em; }
@media (max-width: 44rem) {
  body { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.5rem; }
  .figures { grid-template-columns: 1fr 1fr; }
  .figures div:last-child:nth-child(odd) { grid-column: 1 / -1; }
  details { padding: 0 .8rem; }
  thead { display: none; }
  table, tbody, tr, td { display: block; }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  td { border: 0; padding: .1rem 0; text-align: left; }
  td:empty { display: none; }
  td::before { content: attr(data-name) " "; color: var(--mute); font-size: .85em; }
  td.number { display: inline-block; margin-right: 1rem; text-align: left; }
  td.number:empty { display: none; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  details, figure, li, tr { break-inside: avoid-page; }
  details { border-color: #bbb; }
  details::details-content { content-visibility: visible; block-size: auto; display: block; }
}
"""
