// Reads accounts, balances, transactions and depots with hbci4java, pays if asked to, and prints what it saw.
// Arguments: host with path, port, folder for its files, login, method and TAN (901:2), first day (yyyy-MM-dd), then
// for a payment IBAN, name, amount. Every line is a word and its values, separated by tabs.

import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.Properties;
import org.kapott.hbci.GV.HBCIJob;
import org.kapott.hbci.GV_Result.GVRKUms;
import org.kapott.hbci.GV_Result.GVRSaldoReq;
import org.kapott.hbci.GV_Result.GVRWPDepotList;
import org.kapott.hbci.callback.AbstractHBCICallback;
import org.kapott.hbci.callback.HBCICallback;
import org.kapott.hbci.manager.HBCIHandler;
import org.kapott.hbci.manager.HBCIUtils;
import org.kapott.hbci.passport.AbstractHBCIPassport;
import org.kapott.hbci.passport.HBCIPassport;
import org.kapott.hbci.status.HBCIExecStatus;
import org.kapott.hbci.structures.Konto;
import org.kapott.hbci.structures.Value;

public class HbciPeer {
  static PrintStream out;

  static void say(Object... words) {
    StringBuilder line = new StringBuilder();
    for (Object word : words) {
      line.append(line.length() == 0 ? "" : "\t").append(String.valueOf(word).replaceAll("\\s+", " "));
    }
    out.println(line);
  }

  static class Answers extends AbstractHBCICallback {
    final String host;
    final String port;
    final String login;
    final String method;
    final String tan;

    Answers(String host, String port, String login, String authentication) {
      this.host = host;
      this.port = port;
      this.login = login;
      this.method = authentication.split(":")[0];
      this.tan = authentication.split(":")[1];
    }

    @Override
    public void log(String text, int level, Date date, StackTraceElement trace) {
      if (level <= HBCIUtils.LOG_WARN) {
        say("log", text);
      }
    }

    @Override
    public void callback(HBCIPassport passport, int reason, String text, int type, StringBuffer data) {
      switch (reason) {
        case HBCICallback.NEED_PASSPHRASE_LOAD:
        case HBCICallback.NEED_PASSPHRASE_SAVE:
          data.replace(0, data.length(), "passphrase");
          break;
        case HBCICallback.NEED_COUNTRY:
          data.replace(0, data.length(), "DE");
          break;
        case HBCICallback.NEED_BLZ:
          data.replace(0, data.length(), "99999999");
          break;
        case HBCICallback.NEED_HOST:
          data.replace(0, data.length(), host);
          break;
        case HBCICallback.NEED_PORT:
          data.replace(0, data.length(), port);
          break;
        case HBCICallback.NEED_FILTER:
          data.replace(0, data.length(), "Base64");
          break;
        case HBCICallback.NEED_USERID:
        case HBCICallback.NEED_CUSTOMERID:
          data.replace(0, data.length(), login);
          break;
        case HBCICallback.NEED_PT_PIN:
          data.replace(0, data.length(), "demo");
          break;
        case HBCICallback.NEED_PT_SECMECH:
          say("methods", data);
          data.replace(0, data.length(), method);
          break;
        case HBCICallback.NEED_PT_TANMEDIA:
          say("media", data);
          data.replace(0, data.length(), data.toString().split("\\|")[0]);
          break;
        case HBCICallback.NEED_PT_TAN:
          say("challenge", text, data);
          data.replace(0, data.length(), tan);
          break;
        case HBCICallback.NEED_PT_PHOTOTAN:
        case HBCICallback.NEED_PT_QRTAN:
          say("photo", data.length());
          data.replace(0, data.length(), tan);
          break;
        case HBCICallback.HAVE_INST_MSG:
          say("message", text);
          break;
        case HBCICallback.HAVE_ERROR:
          data.replace(0, data.length(), "");
          break;
        default:
          break;
      }
    }

    @Override
    public void status(HBCIPassport passport, int tag, Object[] values) {}
  }

  static HBCIJob ask(HBCIHandler handler, String name, Konto account, String day) throws Exception {
    HBCIJob job = handler.newJob(name);
    job.setParam("my", account);
    if (day != null) {
      job.setParam("startdate", new SimpleDateFormat("yyyy-MM-dd").parse(day));
    }
    job.addToQueue();
    return job;
  }

  public static void main(String[] arguments) throws Exception {
    out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    String folder = arguments[2];
    Properties properties = new Properties();
    properties.setProperty("client.product.name", "KONTORTEST");
    properties.setProperty("client.product.version", "1.0");
    HBCIUtils.init(properties, new Answers(arguments[0], arguments[1], arguments[3], arguments[4]));
    HBCIUtils.setParam("client.passport.default", "PinTan");
    HBCIUtils.setParam("client.passport.PinTan.init", "1");
    HBCIUtils.setParam("client.passport.PinTan.checkcert", "0");
    HBCIUtils.setParam("log.loglevel.default", "2");
    HBCIPassport passport = AbstractHBCIPassport.getInstance(new File(folder, "passport.dat"));
    HBCIHandler handler = new HBCIHandler("300", passport);
    try {
      for (Konto account : passport.getAccounts()) {
        say("account", account.number, account.iban, account.bic, account.type, account.name);
        if (account.iban != null || account.allowedGVs.contains("HKWPD")) {
          // Others, such as cards, it does not ask about: they have no IBAN.
          read(handler, account, arguments[5]);
        }
      }
      if (arguments.length > 6) {
        pay(handler, passport.getAccounts()[0], arguments);
      }
    } finally {
      handler.close();
    }
  }

  static void read(HBCIHandler handler, Konto account, String day) throws Exception {
    boolean isDepot = account.allowedGVs.contains("HKWPD");
    HBCIJob balance = isDepot ? null : ask(handler, "SaldoReq", account, null);
    HBCIJob bookings = isDepot ? null : ask(handler, "KUmsAll", account, day);
    HBCIJob depot = isDepot ? ask(handler, "WPDepotList", account, null) : null;
    HBCIExecStatus status = handler.execute();
    if (!status.isOK()) {
      say("failed", status.getErrorString());
      return;
    }
    if (isDepot) {
      for (GVRWPDepotList.Entry one : ((GVRWPDepotList) depot.getJobResult()).getEntries()) {
        for (GVRWPDepotList.Entry.Gattung held : one.getEntries()) {
          say("holding", held.isin, held.saldo == null ? "" : held.saldo.getValue(), held.curr);
        }
      }
      return;
    }
    say("balance", ((GVRSaldoReq) balance.getJobResult()).getEntries()[0].ready.value.getBigDecimalValue());
    GVRKUms rows = (GVRKUms) bookings.getJobResult();
    for (GVRKUms.UmsLine row : rows.getFlatData()) {
      String day2 = new SimpleDateFormat("yyyy-MM-dd").format(row.bdate);
      say("booking", day2, row.value.getBigDecimalValue(), row.other == null ? "" : row.other.name, row.gvcode);
    }
    say("pending", rows.getFlatDataUnbooked().size());
  }

  static void pay(HBCIHandler handler, Konto account, String[] arguments) throws Exception {
    Konto payee = new Konto("DE", arguments[6].substring(4, 12), arguments[6].substring(12));
    payee.iban = arguments[6];
    payee.name = arguments[7];
    HBCIJob job = handler.newJob("UebSEPA");
    job.setParam("src", account);
    job.setParam("dst", payee);
    job.setParam("btg", new Value(arguments[8], "EUR"));
    job.setParam("usage", "Gruss von hbci4java");
    job.addToQueue();
    HBCIExecStatus status = handler.execute();
    say("paid", status.isOK(), status.isOK() ? "" : status.getErrorString());
  }
}
