def test_a_tenant_reads_itself(tenant):
    answer = tenant.http.get(tenant.url, headers=tenant.as_admin)
    assert answer.status_code == 200
    assert answer.json() == {"name": tenant.name}
