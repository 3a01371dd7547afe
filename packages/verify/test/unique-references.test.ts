import { defineResource, resourceRoutes } from "@fetchwork/rest";
import { expect, it } from "vitest";
import { z } from "zod";
import { invariant, verifyService } from "../src/index.ts";
import { serviceOf, user } from "./seeded.ts";

const doctor = defineResource({
  name: "doctor",
  path: "/doctors",
  schema: z.object({ name: z.string(), account: z.string() }),
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "manager",
  unique: ["account", "manager"],
  relations: { account: { to: () => user } },
});
const visit = defineResource({
  name: "visit",
  path: "/visits",
  schema: z.object({ doctor: z.string(), state: z.enum(["open", "done", "cancelled"]) }),
  access: { list: "owner", show: "owner", create: "user", update: "owner", remove: "owner" },
  owner: "patient",
  relations: { doctor: { to: () => doctor } },
});
const bill = defineResource({
  name: "bill",
  path: "/bills",
  schema: z.object({
    visit: z.string(),
    kind: z.enum(["visit", "fee"]),
    state: z.enum(["open", "paid", "void"]),
  }),
  access: { list: "owner", show: "owner", create: "user", update: "owner", remove: "owner" },
  owner: "patient",
  unique: [
    ["visit", "kind"],
    ["patient", "kind"],
  ],
  relations: { visit: { to: () => visit } },
});

const clinic = serviceOf(resourceRoutes(doctor), resourceRoutes(visit), resourceRoutes(bill));

it("verifyService() tries references and owners that are unique, alone and with an enum, also with scale and statements", async () => {
  const invariants = [doctor, bill].map((one) => invariant("it is there", one, () => true));
  const { findings, skipped } = await verifyService(clinic, { invariants, scale: 1000 });
  expect({ findings, skipped }).toEqual({ findings: [], skipped: [] });
});
