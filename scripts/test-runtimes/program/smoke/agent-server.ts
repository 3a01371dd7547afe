import { serveTasks } from "@fetchwork/agent/server";
import { expect } from "../platform.ts";
import { scriptedProvider } from "../scripted-provider.ts";

interface Step {
  readonly status: string;
  readonly is_last: boolean;
}

/** Serves the task API: a client makes a task, runs its steps and fetches a file. */
export async function smoke(): Promise<void> {
  const server = await serveTasks({
    provider: scriptedProvider(),
    store: "sqlite::memory:",
    port: 0,
    signals: false,
  });
  const tasks = `http://127.0.0.1:${server.port}/agent/tasks`;
  const { task_id } = (await post(tasks, { input: "A greeting" })) as { readonly task_id: string };
  let step: Step | undefined;
  for (let count = 0; count < 10 && step?.is_last !== true; count += 1) {
    step = (await post(`${tasks}/${task_id}/steps`, {})) as Step;
    expect("a step", step.status, "completed");
  }
  expect("the last step", step?.is_last, true);
  const listed = await (await fetch(`${tasks}/${task_id}/artifacts`)).text();
  expect("its files", listed.includes("main.js") && listed.includes("greeting.js"), true);
  const page = await fetch(`http://127.0.0.1:${server.port}/`);
  expect("the page", [page.status, (await page.text()).includes("<html")], [200, true]);
  await server.close({ gracePeriod: 0 });
}

async function post(url: string, body: unknown): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  expect(`the status of POST ${url}`, response.ok, true);
  return response.json();
}
