import { sourceHash } from "#http/answers/content-security.ts"

/**
 * The only stylesheet of the pages. System fonts, and colours for light and dark; every text has a contrast of at least
 * 4.5, every border of a control of at least 3 (WCAG 2.2, 1.4.3 and 1.4.11).
 */
export const style = `
:root{color-scheme:light dark;--ground:#eef1f5;--card:#fff;--text:#17202c;--soft:#4a5768;--line:#d3dae3;--edge:#6b7788;
--link:#0a56a6;--act:#0a56a6;--on-act:#fff;--act-over:#08447f;--bad:#a51d24;--bad-ground:#fdeeee;--warn:#6f4a00;
--warn-ground:#fff4d9;--warn-line:#d9a520;--good:#14602f;--good-ground:#e6f6ec}
@media (prefers-color-scheme:dark){:root{--ground:#0f141a;--card:#19212b;--text:#e9eef5;--soft:#b0bccb;--line:#323e4d;
--edge:#8291a5;--link:#8cc4ff;--act:#8cc4ff;--on-act:#06192d;--act-over:#b4d9ff;--bad:#ffaaa8;--bad-ground:#3a1b1e;
--warn:#ffd98a;--warn-ground:#352a12;--warn-line:#a87f1f;--good:#9be3b4;--good-ground:#14301f}}
*,*::before,*::after{box-sizing:border-box}
html{font:100%/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;
background:var(--ground);color:var(--text);padding:1rem;overflow-wrap:anywhere}
header,main,footer{width:100%;max-width:28rem}
.wide>*{max-width:44rem}
header{padding:.5rem .25rem 1rem;font-weight:650;letter-spacing:.01em}
header span{display:inline-block;width:.75rem;height:.75rem;margin-right:.5rem;border:3px solid var(--link);
border-top-color:transparent;border-radius:0 0 .5rem .5rem}
main{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.25rem 1rem}
footer{padding:1rem .25rem;color:var(--soft);font-size:.875rem}
h1{font-size:1.375rem;line-height:1.3;margin:0 0 1rem;text-wrap:balance}
h2{font-size:1rem;line-height:1.4;margin:1.5rem 0 .5rem}
h3{font-size:.9375rem;line-height:1.4;margin:1rem 0 .25rem;color:var(--soft)}
p,blockquote{margin:0 0 1rem}
blockquote{border-left:.2rem solid var(--line);padding-left:1rem}
.menu{list-style:none;padding:0}
.menu li{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;padding:.375rem 0;
border-bottom:1px solid var(--line)}
.menu li+li{margin:0}
.menu p{flex-basis:100%;margin:0;font-size:.875rem}
.price{font-variant-numeric:tabular-nums;white-space:nowrap}
main>:last-child{margin-bottom:0}
a{color:var(--link);text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:.25rem}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9375em}
ul{margin:0 0 1rem;padding-left:1.25rem}
li+li{margin-top:.375rem}
dl{margin:0 0 1rem;border-top:1px solid var(--line)}
dl>div{border-bottom:1px solid var(--line);padding:.5rem 0}
dt{color:var(--soft);font-size:.875rem}
dd{margin:0}
.soft{color:var(--soft)}
.field{margin:0 0 1rem}
label{display:block;font-weight:600;margin-bottom:.25rem}
label .soft{font-weight:400}
input{display:block;width:100%;min-height:2.75rem;padding:.5rem .75rem;font:inherit;color:inherit;
background:var(--card);border:1px solid var(--edge);border-radius:.5rem}
input[aria-invalid]{border:2px solid var(--bad)}
fieldset{border:0;padding:0;margin:1.5rem 0 0}
legend{padding:0;margin-bottom:.25rem;font-weight:600}
.radio{display:flex;align-items:center;gap:.75rem;min-height:2.75rem;padding:.25rem 0;font-weight:400;
margin:0}
.radio input{flex:none;width:1.25rem;min-height:0;height:1.25rem;margin:0;accent-color:var(--act)}
.hint,.fault{font-size:.875rem;margin:.25rem 0 0}
.hint{color:var(--soft)}
.fault{color:var(--bad);font-weight:600}
button,.button{display:inline-block;min-height:2.75rem;padding:.5rem 1.25rem;font:inherit;font-weight:600;
text-align:center;text-decoration:none;border:1px solid var(--edge);border-radius:.5rem;background:transparent;
color:var(--text);cursor:pointer}
button:hover,.button:hover{border-color:var(--text)}
button.act,.button.act{background:var(--act);border-color:var(--act);color:var(--on-act)}
button.act:hover,.button.act:hover{background:var(--act-over);border-color:var(--act-over)}
.choices{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.5rem 0 1rem}
.choices>*{flex:1 1 8rem}
form>.act{width:100%}
.after{margin-top:1rem}
.note{border:1px solid var(--line);border-left-width:.3rem;border-radius:.5rem;padding:.75rem 1rem;margin:0 0 1rem}
.note>:last-child{margin-bottom:0}
.note h2{margin:0 0 .25rem}
.bad{background:var(--bad-ground);border-color:var(--bad);color:var(--bad)}
.bad a{color:inherit}
.warn{background:var(--warn-ground);border-color:var(--warn-line);color:var(--warn)}
.good{background:var(--good-ground);border-color:var(--good);color:var(--good)}
.grants{list-style:none;padding:0}
.grants>li{border:1px solid var(--line);border-radius:.5rem;padding:1rem;margin:0 0 1rem}
.grants>:last-child,main>form:last-child>.choices{margin-bottom:0}
.grants h2{margin:0 0 .5rem}
.inline{display:inline}
.inline button{min-height:0;padding:0;border:0;font-weight:400;color:var(--link);text-decoration:underline;
text-underline-offset:.15em}
.tabs{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:0 0 1.25rem}
.tabs a{padding:.5rem 0}
.tabs [aria-current]{color:var(--text);font-weight:650;text-decoration:none;box-shadow:inset 0 -.15rem var(--link)}
.links{list-style:none;padding:0}
.links a{display:block;padding:.5rem 0}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(7rem,1fr));gap:0 1.5rem}
.facts dd{font-size:1.25rem;font-weight:650;font-variant-numeric:tabular-nums}
.chart{margin:1.5rem 0}
.plot{display:grid;grid-template-columns:minmax(3.25rem,max-content) minmax(0,1fr);gap:.25rem .5rem;margin-top:.5rem;font-size:.8125rem}
.plot svg{display:block;width:100%;height:8rem}
.scale,.ends{display:flex;justify-content:space-between;font-variant-numeric:tabular-nums}
.scale{flex-direction:column;text-align:right;line-height:1;white-space:nowrap}
.ends{grid-column:2}
.plot rect{fill:var(--link)}
.plot rect:hover{fill:var(--text)}
.plot line{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}
.plot .limit{stroke:var(--bad);stroke-width:2;stroke-dasharray:6 4}
details{margin:0 0 1.5rem}
summary{padding:.5rem 0;font-weight:600;color:var(--link);cursor:pointer}
table{width:100%;border-collapse:collapse;margin:0 0 1rem}
caption{text-align:left;padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.5rem .5rem .5rem 0;border-bottom:1px solid var(--line)}
th{overflow-wrap:normal;font-size:.875rem}
tbody th{font-size:1rem;font-weight:400}
.number{text-align:right;font-variant-numeric:tabular-nums;padding-right:1rem}
.number:last-child{padding-right:0}
td.number{white-space:nowrap}
td time,th time{white-space:nowrap}
@media (max-width:24rem){th,td,tbody th{font-size:.8125rem}.number{padding-right:.5rem}}
@media (min-width:25rem){main{padding:1.5rem}}
@media (min-width:40rem){body{padding:3rem 1.5rem}main{padding:2rem}}
@media (forced-colors:active){.note,input,button{border:1px solid}.plot rect{fill:CanvasText}}
@media print{body{background:#fff}}
`.replaceAll("\n", "")

/** For `style-src`. */
export const styleHash = sourceHash(style)
