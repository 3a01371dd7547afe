import {
  accountSettings,
  defineConfig,
  mailSettings,
  serverSettings,
  webhookSettings,
} from "@fetchwork/service";

/** Settings, by the names of their variables; `.env.example` says what they mean. */
export const config = defineConfig({
  ...serverSettings,
  ...accountSettings,
  ...mailSettings,
  ...webhookSettings,
});
