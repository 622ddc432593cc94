// Orders with hbci4java: a dated transfer, a standing order that is created, changed and deleted, and a direct debit.
// Arguments as those of HbciPeer up to the method; then the day of execution (yyyy-MM-dd), and an IBAN.

import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.Properties;
import org.kapott.hbci.GV.HBCIJob;
import org.kapott.hbci.GV_Result.GVRDauerList;
import org.kapott.hbci.manager.HBCIHandler;
import org.kapott.hbci.manager.HBCIUtils;
import org.kapott.hbci.passport.AbstractHBCIPassport;
import org.kapott.hbci.passport.HBCIPassport;
import org.kapott.hbci.status.HBCIExecStatus;
import org.kapott.hbci.structures.Konto;
import org.kapott.hbci.structures.Value;

public class HbciOrders {
  static HBCIHandler handler;
  static Konto account;
  static Konto other;
  static Date day;

  static HBCIJob prepare(String name, String amount) {
    HBCIJob job = handler.newJob(name);
    job.setParam("src", account);
    job.setParam("dst", other);
    job.setParam("btg", new Value(amount, "EUR"));
    job.setParam("usage", name + " von hbci4java");
    return job;
  }

  static boolean run(HBCIJob job, String word) {
    job.addToQueue();
    HBCIExecStatus status = handler.execute();
    HbciPeer.say(word, status.isOK(), status.isOK() ? "" : status.getErrorString());
    return status.isOK();
  }

  static HBCIJob schedule(HBCIJob job, int months) {
    job.setParam("firstdate", day);
    job.setParam("timeunit", "M");
    job.setParam("turnus", months);
    job.setParam("execday", Integer.parseInt(new SimpleDateFormat("d").format(day)));
    return job;
  }

  static String list(String word) {
    HBCIJob job = handler.newJob("DauerSEPAList");
    job.setParam("src", account);
    job.addToQueue();
    HBCIExecStatus status = handler.execute();
    String found = null;
    if (!status.isOK()) {
      HbciPeer.say(word, false, status.getErrorString());
      return null;
    }
    for (GVRDauerList.Dauer order : ((GVRDauerList) job.getJobResult()).getEntries()) {
      if (order.other.iban.equals(other.iban)) {
        found = order.orderid;
        HbciPeer.say(word, order.value.getBigDecimalValue(), order.turnus, order.timeunit, order.other.name);
      }
    }
    return found;
  }

  public static void main(String[] arguments) throws Exception {
    HbciPeer.out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    Properties properties = new Properties();
    properties.setProperty("client.product.name", "KONTORTEST");
    properties.setProperty("client.product.version", "1.0");
    HBCIUtils.init(properties, new HbciPeer.Answers(arguments[0], arguments[1], arguments[3], arguments[4]));
    HBCIUtils.setParam("client.passport.default", "PinTan");
    HBCIUtils.setParam("client.passport.PinTan.init", "1");
    HBCIUtils.setParam("client.passport.PinTan.checkcert", "0");
    HBCIUtils.setParam("log.loglevel.default", "2");
    HBCIPassport passport = AbstractHBCIPassport.getInstance(new File(arguments[2], "passport.dat"));
    handler = new HBCIHandler("300", passport);
    day = new SimpleDateFormat("yyyy-MM-dd").parse(arguments[5]);
    account = passport.getAccounts()[0];
    other = new Konto("DE", arguments[6].substring(4, 12), arguments[6].substring(12));
    other.iban = arguments[6];
    other.bic = "BYLADEM1001";
    other.name = "Erika Muster";
    try {
      HBCIJob dated = prepare("TermUebSEPA", "2.22");
      dated.setParam("date", day);
      run(dated, "dated");
      run(schedule(prepare("DauerSEPANew", "3.33"), 1), "created");
      HBCIJob change = schedule(prepare("DauerSEPAEdit", "4.44"), 3);
      change.setParam("orderid", list("listed"));
      run(change, "changed");
      HBCIJob deletion = schedule(prepare("DauerSEPADel", "4.44"), 3);
      deletion.setParam("orderid", list("listed"));
      run(deletion, "deleted");
      list("left");
      HBCIJob debit = prepare("LastSEPA", "5.55");
      debit.setParam("creditorid", "DE98ZZZ09999999999");
      debit.setParam("mandateid", "M-1");
      debit.setParam("manddateofsig", new SimpleDateFormat("yyyy-MM-dd").parse("2026-01-02"));
      debit.setParam("sequencetype", "RCUR");
      debit.setParam("targetdate", day);
      run(debit, "collected");
    } finally {
      handler.close();
    }
  }
}
