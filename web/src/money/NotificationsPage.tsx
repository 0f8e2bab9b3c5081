import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { useProject } from "../api/session";
import { OneTimeSecret, SettingsLayout } from "../settings/SettingsLayout";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { Field, Select } from "../ui/Field";
import { Form, FormError, useFields } from "../ui/Form";
import { Loaded } from "../ui/Loaded";
import { useToast } from "../ui/Toast";
import styles from "./Budget.module.css";
import { notificationsQuery } from "./queries";

type Shown = Schemas["NotificationSettingsView"];
type Change = Schemas["NotificationChange"];

/** Recipients of alerts and quiet hours. */
export function NotificationsPage() {
  const project = useProject();
  const shown = useQuery(notificationsQuery(project.id));
  return (
    <SettingsLayout>
      <div className={styles.line}>
        <h2>Notifications</h2>
        <SendTestButton />
      </div>
      <Loaded query={shown} what="notification settings">
        {(it) => (
          <div className={styles.form}>
            <EmailForm key={JSON.stringify(it.mail)} shown={it} />
            <WebhookForm shown={it} />
            <QuietHoursForm key={JSON.stringify(it.quiet_hours)} shown={it} />
          </div>
        )}
      </Loaded>
    </SettingsLayout>
  );
}

function useChange(text: string) {
  const project = useProject();
  const queries = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: (body: Change) => unwrap(api(project.id).PATCH("/api/v1/notifications", { body })),
    onSuccess: (shown) => {
      // The secret is shown once and not cached.
      const webhook = shown.webhook && { ...shown.webhook, secret: undefined };
      queries.setQueryData(notificationsQuery(project.id).queryKey, { ...shown, webhook });
      toast(text);
    },
  });
}

function SendTestButton() {
  const project = useProject();
  const toast = useToast();
  const trying = useMutation({
    mutationFn: () => unwrap(api(project.id).POST("/api/v1/notifications/try")),
    onSuccess: () => toast("Test notification sent to all recipients."),
  });
  return (
    <div>
      <Button onClick={() => trying.mutate()} disabled={trying.isPending}>
        Send test
      </Button>
      <FormError error={trying.error} />
    </div>
  );
}

const WHOM = [
  { value: "owners", label: "all owners of the project" },
  { value: "named", label: "these addresses" },
  { value: "nobody", label: "no recipients" },
];

const whomOf = ({ mail }: Shown): string =>
  mail == null ? "owners" : mail.length === 0 ? "nobody" : "named";

function EmailForm({ shown }: { shown: Shown }) {
  const change = useChange("E-mail recipients saved.");
  const [{ whom, addresses }, bind] = useFields({
    whom: whomOf(shown),
    addresses: (shown.mail ?? []).join(", "),
  });
  const named = addresses.split(/[\s,;]+/).filter((it) => it !== "");
  const mail = whom === "owners" ? null : whom === "nobody" ? [] : named;
  const asked = { ...change, mutate: () => change.mutate({ mail }) };
  return (
    <section>
      <h3>E-mail</h3>
      {!shown.can_mail && (
        <p className={styles.soft}>
          This server cannot send e-mail. Configure SMTP under <code>mail</code> in{" "}
          <code>.jurist/config.yaml</code> on the server and on every worker.
        </p>
      )}
      <Form asked={asked} does="Save recipients" isIncomplete={whom === "named" && named.length === 0}>
        <Select label="Recipients" options={WHOM} {...bind("whom")} />
        {whom === "named" && (
          <Field label="Addresses" hint="Separated by commas." required {...bind("addresses")} />
        )}
      </Form>
    </section>
  );
}

function WebhookForm({ shown }: { shown: Shown }) {
  const [address, setAddress] = useState("");
  const setting = useChange("Webhook saved.");
  const taking = useChange("Webhook removed.");
  const [secret, setSecret] = useState<string | null>(null);
  const asked = {
    ...setting,
    mutate: () =>
      setting.mutate(
        { webhook: address.trim() },
        {
          onSuccess: (it) => {
            setAddress("");
            setSecret(it.webhook?.secret ?? null);
          },
        },
      ),
  };
  return (
    <section>
      <h3>Webhook</h3>
      {shown.webhook && (
        <p className={styles.line}>
          <span>
            Signed requests go to <b>{shown.webhook.host}</b>.
          </span>
          <Button look="danger" onClick={() => taking.mutate({ webhook: null })} disabled={taking.isPending}>
            Remove webhook
          </Button>
        </p>
      )}
      <FormError error={taking.error} />
      <Form
        asked={asked}
        does={shown.webhook ? "Replace webhook" : "Save webhook"}
        isIncomplete={address.trim() === ""}
      >
        <Field
          label="URL"
          type="url"
          hint="The URL is stored encrypted and not shown again."
          placeholder="https://hooks.example.org/jurist"
          value={address}
          onChange={(it) => setAddress(it.target.value)}
        />
      </Form>
      {secret && (
        <Dialog title="Signing secret" onClose={() => setSecret(null)}>
          <OneTimeSecret
            secret={secret}
            about="Requests are signed with this secret. It is shown only once; saving the webhook again creates a new one."
          />
          <div className={styles.line}>
            <CopyButton text={secret} />
            <Button onClick={() => setSecret(null)}>Done</Button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function QuietHoursForm({ shown }: { shown: Shown }) {
  const change = useChange("Quiet hours saved.");
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [values, bind] = useFields({
    from: shown.quiet_hours?.from ?? "22:00",
    until: shown.quiet_hours?.until ?? "07:00",
    zone: shown.quiet_hours?.zone ?? own,
  });
  const asked = { ...change, mutate: () => change.mutate({ quiet_hours: values }) };
  return (
    <section>
      <h3>Quiet hours</h3>
      <Form asked={asked} does="Save quiet hours">
        <div className={styles.row}>
          <Field label="From" type="time" required {...bind("from")} />
          <Field label="Until" type="time" required {...bind("until")} />
          <Field label="Time zone" hint="For example Europe/Zurich or +02:00." required {...bind("zone")} />
        </div>
      </Form>
      {shown.quiet_hours && (
        <Button look="link" onClick={() => change.mutate({ quiet_hours: null })} disabled={change.isPending}>
          Remove quiet hours
        </Button>
      )}
    </section>
  );
}
