// Asks whether the time of `verify` tells where a wrong signature differs.
//
//   npm run webhooks-timing -- [samples]
//
// Signatures that differ in the first, the middle or the last digit, and the right one, take turns
// in random order. The table has the median of each, and Welch's t of each against "first" over the
// fastest 90 %; an absolute value below 4.5 shows no difference (the threshold that leakage tests
// use). "first again" says how noisy the machine is.
import { Webhooks } from "../../packages/webhooks/dist/index.js";

const samples = Number(process.argv[2] ?? 20_000);
const webhooks = new Webhooks({ secret: "mysecret" });
const payload = JSON.stringify({ action: "opened" });
const right = await webhooks.sign(payload);
const change = (at) => right.slice(0, at) + (right[at] === "0" ? "1" : "0") + right.slice(at + 1);
const cases = [
  ["first", change(7)],
  ["first again", change(7)],
  ["middle", change(39)],
  ["last", change(70)],
  ["right", right],
];
const times = cases.map(() => []);
for (let sample = -2000; sample < samples; sample += 1) {
  const order = cases.map((_, index) => index).toSorted(() => Math.random() - 0.5);
  for (const index of order) {
    const [, signature] = cases[index];
    const start = performance.now();
    await webhooks.verify(payload, signature);
    const nanoseconds = Math.round((performance.now() - start) * 1e6);
    if (sample >= 0) times[index].push(nanoseconds);
  }
}

const kept = times.map((all) => all.toSorted((a, b) => a - b).slice(0, Math.floor(samples * 0.9)));
console.log(`Node ${process.version}, ${samples} samples each\n`);
console.log("| difference | median, ns | t against first |\n| --- | ---: | ---: |");
cases.forEach(([name], index) => {
  const t = index === 0 ? "" : welch(kept[0], kept[index]).toFixed(1);
  console.log(`| ${name} | ${kept[index][Math.floor(kept[index].length * 0.55)]} | ${t} |`);
});

function welch(left, right) {
  const [a, b] = [left, right].map((all) => {
    const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
    const variance = all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (all.length - 1);
    return { mean, share: variance / all.length };
  });
  return (a.mean - b.mean) / Math.sqrt(a.share + b.share);
}
