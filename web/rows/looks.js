// Looks of tables of rows; the colours are those of style.css.

export const looks = `
.rows-page, .rows-view { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; }
.rows-view h2, .rows-view h3 { font-size: 1rem; margin-bottom: 0.5rem; }
.rows-heading { display: grid; gap: 0.35rem; }
.rows-heading h1, .rows-one h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
.rows-one h1:focus { outline: none; }
.rows-heading p { overflow-wrap: anywhere; max-width: 60rem; }
.rows-note { padding-left: 0.9rem; border-left: 2px solid var(--caution); color: var(--label); font-size: 0.9rem; }
.rows-measures { display: flex; flex-wrap: wrap; gap: 0.5rem 1.75rem; margin: 0.75rem 0 0.35rem; }
.rows-measures dt { color: var(--quiet); font-size: 0.8rem; }
.rows-measures dd { margin: 0; }
.rows-measures .is-main dd { font-weight: 650; }
.rows-figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(28rem, 100%), 1fr)); gap: 1.75rem 2.5rem; }
.rows-figure { min-width: 0; }
.rows-plot { display: block; width: 100%; max-width: 34rem; height: auto; }
canvas.rows-plot { max-width: none; height: 280px; }
.rows-figure .quiet, .rows-view caption { font-size: 0.8667rem; }
.rows-view caption { padding-bottom: 0.4rem; color: var(--quiet); text-align: left; caption-side: top; }
.rows-wide { overflow-x: auto; max-width: 100%; }
.rows-tall { max-height: 24rem; overflow-y: auto; }
.rows-details { margin-top: 0.35rem; font-size: 0.8667rem; }
.rows-details summary { cursor: pointer; color: var(--label); }
.rows-numbers { border-collapse: collapse; font-size: 0.8667rem; min-width: 60%; margin-top: 0.35rem; }
.rows-numbers th, .rows-numbers td { padding: 0.2rem 0.7rem 0.2rem 0; text-align: left; font-weight: 400; border-bottom: 1px solid var(--rule); vertical-align: baseline; }
.rows-numbers thead th { color: var(--quiet); position: sticky; top: 0; background: var(--paper); }
.rows-view .numeric { text-align: right; font-variant-numeric: tabular-nums; }
.rows-bar { background: linear-gradient(to right, var(--accent-soft) var(--share), transparent 0) no-repeat left center / 100% 70%; }
.rows-matrix { border-collapse: separate; border-spacing: 2px; font-size: 0.8667rem; }
.rows-matrix th { padding: 0.15rem 0.4rem; color: var(--label); font-weight: 400; text-align: right; white-space: nowrap; }
.rows-matrix thead th { text-align: center; }
.rows-matrix .rows-corner { color: var(--quiet); font-size: 0.8rem; text-align: left; }
.rows-matrix td { padding: 0; }
.rows-matrix button { width: 100%; min-width: 3rem; min-height: 2rem; padding: 0 0.3rem; border: 0; border-radius: 3px; opacity: 1; }
.rows-matrix .is-right button { outline: 1px solid var(--quiet); outline-offset: -1px; }
.rows-matrix button:focus-visible { outline: 2px solid var(--ink); outline-offset: 1px; }
.rows-all { min-width: 0; }
.rows-line { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem 0.6rem; margin-bottom: 0.5rem; }
.rows-line input[type="search"] { flex: 1 1 14rem; min-width: 0; max-width: 26rem; }
.rows-line select { max-width: 100%; min-width: 0; }
.rows-chips { display: flex; flex-wrap: wrap; gap: 0.35rem; padding: 0; margin: 0; list-style: none; }
.rows-chip { border-radius: 999px; max-width: 100%; overflow: hidden; text-overflow: ellipsis; }
.rows-status { margin: 0.35rem 0 0.5rem; color: var(--label); font-size: 0.8667rem; overflow-wrap: anywhere; }
.rows-scroll { position: relative; overflow: auto; max-height: max(320px, calc(100vh - 220px)); height: 40rem; border: 1px solid var(--rule); border-radius: 6px; }
.rows-table { width: 100%; border-collapse: separate; border-spacing: 0; table-layout: fixed; font-size: 0.8667rem; }
.rows-table caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); padding: 0; }
.rows-table th, .rows-table td { height: 34px; padding: 0 0.6rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: left; border-bottom: 1px solid var(--rule); font-weight: 400; }
.rows-table thead th { position: sticky; top: 0; z-index: 2; padding: 0; background: var(--surface); }
.rows-table tbody th { position: sticky; left: 0; z-index: 1; padding: 0; background: var(--paper); }
.rows-table .rows-spacer td { padding: 0; border: 0; }
.rows-table tbody tr[data-row] { cursor: pointer; }
.rows-table tbody tr[data-row]:hover > * { background: var(--surface); }
.rows-table .rows-none { padding: 1rem; color: var(--quiet); white-space: normal; }
.rows-sort { width: 100%; height: 100%; padding: 0 0.6rem; border: 0; border-radius: 0; background: none; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: inherit; font-size: inherit; }
.rows-sort:focus-visible, .rows-open:focus-visible { outline-offset: -2px; }
th[aria-sort] .rows-sort { font-weight: 650; }
th[aria-sort="ascending"] .rows-sort::after { content: " ▲"; }
th[aria-sort="descending"] .rows-sort::after { content: " ▼"; }
.rows-open { min-height: 0; padding: 0 0.6rem; border: 0; background: none; color: var(--accent); text-decoration: underline; text-underline-offset: 0.2em; font-size: inherit; }
.rows-table .rows-open { width: 100%; height: 100%; text-align: right; }
.rows-numbers .rows-open { padding: 0 0.2rem; }
.rows-wrong { color: var(--bad); font-weight: 600; }
.rows-right { color: var(--good); }
.rows-one { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
.rows-facts { display: grid; grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr); gap: 0.15rem 1rem; margin: 0; max-width: 60rem; }
.rows-facts dt { color: var(--quiet); overflow-wrap: anywhere; max-width: 14rem; }
.rows-facts dd { margin: 0; min-width: 0; }
.rows-fact { overflow-wrap: anywhere; white-space: pre-wrap; }
@media (max-width: 600px) {
  .rows-scroll { max-height: 75vh; }
  .rows-table tbody th, .rows-table tbody td { padding-inline: 0.45rem; }
  .rows-facts { grid-template-columns: minmax(0, 1fr); }
  .rows-facts dd { margin-bottom: 0.4rem; }
}
@media print {
  .rows-filters, .rows-one nav, .rows-chips button { display: none; }
  .rows-scroll, .rows-tall { height: auto; max-height: none; overflow: visible; border: 0; }
  .rows-table { min-width: 0 !important; width: 100%; table-layout: auto; font-size: 0.7rem; }
  .rows-table thead th { position: static; }
  .rows-table tbody tr { height: auto; break-inside: avoid; }
  .rows-table tbody th, .rows-table tbody td { white-space: normal; overflow-wrap: anywhere; padding-inline: 0.25rem; }
  .rows-figure { break-inside: avoid; }
}
`;
